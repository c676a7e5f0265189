import { createApp } from './app.js'

const { API_URL = 'http://localhost:8080', CLIENT_ID, CLIENT_SECRET, PORT = '3000' } = process.env
const { ORIGIN = `http://localhost:${PORT}` } = process.env

const app = await createApp({
  apiUrl: API_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  origin: ORIGIN,
})
app.listen(Number(PORT), 'localhost', () => console.log(`open ${ORIGIN}`))
