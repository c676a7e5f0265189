import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { startStrand } from 'strand-server'
import { createClient } from 'strand-server/client'
import { createApp } from '../src/app.js'
import { Browser } from './browser.js'

const MARK = 'a "fall" & <b>more</b>'

let strand, app, origin
before(async () => {
  strand = await startStrand({
    strict: true,
    scenario: { users: { otter: { stream: { title: 'Night run', viewer_count: 12 } } } },
  })
  const port = await freePort()
  origin = `http://localhost:${port}`
  app = await createApp({
    apiUrl: strand.url,
    clientId: strand.client.id,
    clientSecret: strand.client.secret,
    origin,
  })
  await once(app.listen(port, 'localhost'), 'listening')
  const { id: user_id, token } = strand.world.scenario.otter
  const { helix } = createClient({ baseUrl: strand.url, clientId: strand.client.id, token })
  await helix.createStreamMarker({ user_id, description: MARK })
})
after(async () => {
  app.close()
  await strand.stop()
})

async function freePort() {
  const server = createServer()
  await once(server.listen(0, 'localhost'), 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** A browser whose user has logged in and allowed the application. */
async function loggedIn() {
  const browser = new Browser()
  await browser.open(`${origin}/login`)
  const [{ password }] = strand.world.users
  await browser.submit('/login', { login: 'otter', password })
  if (!browser.url.startsWith(origin)) await browser.submit('/oauth2/consent', { decision: 'allow' })
  return browser
}

test('without a login there is a link to it', async () => {
  const browser = new Browser()
  await browser.open(origin)
  assert.match(browser.html, /href="\/login"/)
})

test('after the login, the page has the stream and its markers, escaped', async () => {
  const browser = await loggedIn()
  assert.equal(browser.url, `${origin}/`)
  assert.match(browser.html, /Live: Night run, 12 viewers/)
  assert.match(browser.html, /a &quot;fall&quot; &amp; &lt;b&gt;more&lt;\/b&gt;/)
})

test('an expired token is refreshed', async () => {
  const browser = await loggedIn()
  await strand.clock.advance(24 * 60 * 60)
  await browser.open('/')
  assert.match(browser.html, /Live:/)
})

test('a callback with the state of another login is refused', async () => {
  const browser = new Browser()
  await browser.open(`${origin}/login`)
  await browser.open(`${origin}/callback?code=anything&state=forged`)
  assert.equal(browser.status, 400)
  assert.match(browser.html, /The login failed/)
})

test('a login that the user declined is refused', async () => {
  const browser = await loggedIn()
  await browser.open(`${origin}/callback?error=access_denied`)
  assert.equal(browser.status, 400)
})

test('after the logout there is no session', async () => {
  const browser = await loggedIn()
  await browser.submit('/logout')
  assert.match(browser.html, /href="\/login"/)
})
