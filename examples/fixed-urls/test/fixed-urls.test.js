import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { startStrand } from 'strand-server'
import { createApp } from '../src/app.js'
import { countViewers } from '../src/viewers.js'
import { Browser } from './browser.js'

let strand
before(async () => {
  strand = await startStrand({
    intercept: true,
    scenario: { users: { otter: { stream: { viewer_count: 12 } }, badger: {} } },
  })
})
after(() => strand.stop())

test('node-twitch counts viewers', async () => {
  const { id: clientId, secret: clientSecret } = strand.client
  assert.equal(await countViewers({ clientId, clientSecret, login: 'otter' }), 12)
  assert.equal(await countViewers({ clientId, clientSecret, login: 'badger' }), undefined)
  const call = await strand.requests.next('GetStreams')
  assert.equal(call.headers.host, 'api.twitch.tv')
  assert.deepEqual(call.query.user_login, ['otter'])
})

test('passport-twitch-strategy logs a person in', async () => {
  const { id: clientId, secret: clientSecret } = strand.client
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const origin = `http://localhost:${server.address().port}`
  server.on('request', createApp({ clientId, clientSecret, origin }))
  try {
    const browser = new Browser()
    await browser.open(`${origin}/login`)
    assert.equal(new URL(browser.url).origin, 'https://id.twitch.tv')
    const [{ password }] = strand.world.users
    await browser.submit('/login', { login: 'otter', password })
    if (!browser.url.startsWith(origin)) await browser.submit('/oauth2/consent', { decision: 'allow' })
    assert.equal(browser.status, 200)
    assert.match(browser.html, /^Hello, otter$/i)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('calls for other hosts are not intercepted', async () => {
  const calls = await strand.requests.count()
  await assert.rejects(fetch('https://api.strand.invalid/helix/streams'))
  assert.equal(await strand.requests.count(), calls)
})
