const { afterAll, afterEach, beforeAll, expect, test } = require('@jest/globals')
const { startStrand } = require('strand-server')
const { followedStreams, TokenExpired } = require('../src/followed-streams.js')

let strand
beforeAll(async () => {
  strand = await startStrand({
    clock: '2026-03-01T12:00:00Z',
    scenario: {
      users: {
        otter: { stream: { viewer_count: 10 } },
        heron: { stream: { viewer_count: 20 } },
        newt: {},
        fan: { follows: ['otter', 'heron', 'newt'] },
      },
      tokens: { short: { user: 'fan', expires_in: 60 } },
    },
  })
})
afterEach(() => strand.reset())
afterAll(() => strand.stop())

test('lists the channels that are live', async () => {
  expect(await followedStreams(strand.url, strand.world.scenario.short)).toEqual(['heron', 'otter'])
})

test('an expired token is reported as such', async () => {
  await strand.clock.advance(61)
  await expect(followedStreams(strand.url, strand.world.scenario.short)).rejects.toThrow(TokenExpired)
})
