import { describe, expect, test } from 'bun:test'
import { Heartbeats } from '../../src/directory/heartbeats.ts'
import { countSessions, type PlaybackSession } from '../../src/domain/playback.ts'
import { Metrics } from '../../src/kit/telemetry/metrics.ts'
import { MovableClock } from '../../src/kit/time/clock.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const session = (n: number, user_id = '1'): PlaybackSession => ({
  id: `s${String(n).padStart(7, '0')}`,
  user_id,
  watches: 'live',
  began: NOW,
  viewer: undefined,
})
const addressOf = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`

async function liveStore(engine: (typeof engines)[number]) {
  const { store, close } = await openTestStore(engine)
  for (const id of ['1', '2']) {
    await store.commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: NOW })
    await store.commands.startStream({
      user_id: id,
      stream_id: `10${id}`,
      video_id: `20${id}`,
      started_at: '2026-03-01T12:00:00Z',
    })
  }
  return { store, close }
}

const viewersOf = async (store: Store, user_id = '1') => (await store.streams.of(user_id))?.viewer_count

describe.each([...engines])('heartbeats on %s', engine => {
  test('of one session on several nodes count once, and those of a stopped node lapse', async () => {
    const { store, close } = await liveStore(engine)
    try {
      const clock = new MovableClock({ at: NOW, running: false })
      const [a, b] = [new Heartbeats({ store, clock }), new Heartbeats({ store, clock })]
      for (let n = 0; n < 6; n++) a.beat(session(n), addressOf(n))
      for (let n = 4; n < 9; n++) b.beat(session(n), addressOf(n))
      b.beat(session(50, '2'), addressOf(50))
      await Promise.all([a.report(), b.report()])
      expect([await viewersOf(store), await viewersOf(store, '2')]).toEqual([9, 1])

      // From here on, node b is gone.
      clock.advance(60_000)
      for (let n = 0; n < 3; n++) a.beat(session(n), addressOf(n))
      await a.report()
      expect([await viewersOf(store), await viewersOf(store, '2')]).toEqual([9, 1])
      clock.advance(20_000)
      await a.report()
      expect([await viewersOf(store), await viewersOf(store, '2')]).toEqual([3, 0])
      clock.advance(80_000)
      await a.report()
      expect(await viewersOf(store)).toBe(0)
      // The store is empty again, and nothing is left to report.
      expect(await store.streams.hasLapsedViewers(clock.now())).toBe(false)
      await store.commands.reportViewers({ counts: [['1', 5]] })
      await a.report()
      expect(await viewersOf(store)).toBe(5)
    } finally {
      await close()
    }
  })

  test('of a node whose clock was ahead lapse too', async () => {
    const { store, close } = await liveStore(engine)
    try {
      const ahead = new Heartbeats({
        store,
        clock: new MovableClock({ at: NOW + 3_600_000, running: false }),
      })
      ahead.beat(session(1), addressOf(1))
      await ahead.report()
      expect(await viewersOf(store)).toBe(1)
      await new Heartbeats({ store, clock: new MovableClock({ at: NOW, running: false }) }).report()
      expect(await viewersOf(store)).toBe(0)
    } finally {
      await close()
    }
  })

  test('of deleted users are harmless', async () => {
    const { store, close } = await liveStore(engine)
    try {
      const clock = new MovableClock({ at: NOW, running: false })
      const heartbeats = new Heartbeats({ store, clock })
      heartbeats.beat(session(1), addressOf(1))
      heartbeats.beat(session(2, '999'), addressOf(2))
      await store.commands.deleteUser({ id: '1', now: NOW })
      await heartbeats.report()
      clock.advance(80_000)
      await heartbeats.report()
      expect(await store.streams.hasLapsedViewers(clock.now() + 200_000)).toBe(false)
    } finally {
      await close()
    }
  })

  test('flooding counts 20 of an address, 200 of a site, and no more than fit', async () => {
    const { store, close } = await liveStore(engine)
    try {
      const clock = new MovableClock({ at: NOW, running: false })
      const heartbeats = new Heartbeats({ store, clock, most: 300 })
      let n = 0
      for (let turn = 0; turn < 5000; turn++) heartbeats.beat(session(n++), '192.0.2.7')
      await heartbeats.report()
      expect(await viewersOf(store)).toBe(20)
      for (let turn = 0; turn < 5000; turn++)
        heartbeats.beat(session(n++), `2001:db8:7:${(turn % 1000).toString(16)}::1`)
      await heartbeats.report()
      expect(await viewersOf(store)).toBe(220)
      for (let turn = 0; turn < 5000; turn++) heartbeats.beat(session(n++), addressOf(turn))
      await heartbeats.report()
      expect(await viewersOf(store)).toBe(300)

      const metrics = new Metrics()
      heartbeats.measure(metrics)
      expect(JSON.stringify(metrics.families)).toContain('14700')
      // Those that lapse make room.
      clock.advance(80_000)
      await heartbeats.report()
      heartbeats.beat(session(n++), '192.0.2.7')
      await heartbeats.report()
      expect(await viewersOf(store)).toBe(1)
    } finally {
      await close()
    }
  })
})

test('sessions in several lists count once', () => {
  expect(countSessions([])).toBe(0)
  expect(countSessions(['', 'aaaaaaaabbbbbbbb', 'bbbbbbbbcccccccc'])).toBe(3)
})
