import { type RunningStrand, startStrand } from 'strand-server'
import { type Client, createClient } from 'strand-server/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { popularChannels } from '../src/popular-channels.js'

let strand: RunningStrand
let helix: Client['helix']
beforeAll(async () => {
  strand = await startStrand({
    scenario: {
      users: {
        otter: { stream: { viewer_count: 900_000 } },
        heron: { stream: { viewer_count: 800_000 } },
        newt: { stream: { viewer_count: 3 } },
        eel: { stream: { viewer_count: 850_000, game: '' } },
      },
    },
  })
  helix = createClient({ baseUrl: strand.url, token: strand.client.app_token }).helix
})
afterEach(() => strand.reset())
afterAll(() => strand.stop())

test('lists the channels of the game, the largest first', async () => {
  expect(await popularChannels(helix, strand.world.game.id, 500_000)).toEqual(['otter', 'heron'])
})

test('a game without streams has none', async () => {
  expect(await popularChannels(helix, '1', 0)).toEqual([])
})

test('a busy server is asked again', async () => {
  await strand.faults.plan({ operation: 'GetStreams', outcome: 'unavailable', times: 2 })
  expect(await popularChannels(helix, strand.world.game.id, 850_000)).toEqual(['otter'])
})
