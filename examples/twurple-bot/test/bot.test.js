import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient } from '@twurple/api'
import { StaticAuthProvider } from '@twurple/auth'
import { EventSubWsListener } from '@twurple/eventsub-ws'
import { startStrand } from 'strand-server'
import { createClient } from 'strand-server/client'
import { largestChannels, startBot } from '../src/bot.js'

const strand = await startStrand({
  strict: true,
  clock: '2026-03-01T12:00:00Z',
  scenario: {
    users: { otter: {}, heron: {}, eel: { stream: { viewer_count: 900_000, title: 'Night run' } } },
    events: [
      { type: 'stream.online', user: 'otter', after_seconds: 60 },
      { type: 'channel.follow', user: 'otter', by: 'heron', after_seconds: 90 },
      { type: 'stream.offline', user: 'otter', after_seconds: 120 },
    ],
  },
})
process.env.TWURPLE_MOCK_API_PORT = new URL(strand.url).port
after(() => strand.stop())

const { otter } = strand.world.scenario
const api = new ApiClient({ authProvider: new StaticAuthProvider(strand.client.id, otter.token) })

test('lists the largest channel', async () => {
  assert.deepEqual(await largestChannels(api, 1), ['eel (900000): Night run'])
})

test('marks the start and each follower', async () => {
  const lines = []
  const until = async count => {
    while (lines.length < count) await sleep(10)
  }
  const stop = await new Promise(resolve => {
    const stop = startBot({
      api,
      listener: new EventSubWsListener({ apiClient: api }),
      channel: otter.id,
      log: line => lines.push(line),
      onReady: () => resolve(stop),
    })
  })
  await strand.clock.advance(60)
  await until(1)
  await strand.clock.advance(30)
  await until(2)
  const { helix } = createClient({ baseUrl: strand.url, clientId: strand.client.id, token: otter.token })
  const [{ videos }] = (await helix.getStreamMarkers({ user_id: otter.id })).data
  assert.deepEqual(
    videos[0].markers.map(({ description, position_seconds }) => [description, position_seconds]),
    [
      ['start', 0],
      ['heron follows', 30],
    ],
  )
  await strand.clock.advance(30)
  await until(3)
  assert.deepEqual(lines, ['marked "start" at 0 s', 'marked "heron follows" at 30 s', 'otter is offline'])
  stop()
})
