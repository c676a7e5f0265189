/** The service: fulfils what is claimed, waits, and starts over. It may be killed at any time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'strand-client'
import { appToken } from './app-token.js'
import { fulfilClaimed } from './fulfil.js'
import { Grants } from './grants.js'

const {
  API_URL = 'http://localhost:8080',
  CLIENT_ID,
  CLIENT_SECRET,
  GRANTS_FILE = 'grants.jsonl',
} = process.env
const POLL_MILLISECONDS = Number(process.env.POLL_MILLISECONDS ?? 5000)

const { helix } = createClient({
  baseUrl: API_URL,
  clientId: CLIENT_ID,
  token: appToken({ baseUrl: API_URL, client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
})
const grants = new Grants(GRANTS_FILE)
for (;;) {
  try {
    const fulfilled = await fulfilClaimed(helix, grants)
    if (fulfilled > 0) console.log(`${fulfilled} fulfilled, ${grants.size} granted so far`)
  } catch (error) {
    // A server that is down or busy for longer than the client retries: the next pass continues.
    console.error(error.message)
  }
  await sleep(POLL_MILLISECONDS)
}
