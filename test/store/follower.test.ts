import { describe, expect, test } from 'bun:test'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { History } from '../../src/directory/history.ts'
import { StreamFeedSubscriber } from '../../src/directory/stream-feed-subscriber.ts'
import { pointIn, rankKey, type StreamPage } from '../../src/directory/stream-page.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { FeedFollower } from '../../src/store/follower.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore, retryWhileUnavailable } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

/** A store as another process has it: it hears of nothing by itself and reads the feed. */
const fromAfar = (store: Store): Store => ({ ...store, onChange: () => undefined })

/** Shorter than it is outside tests. */
const MAX_WAIT_MILLISECONDS = 300

/** A store that can be taken away from the reader of its feed. */
function losable(store: Store) {
  const wire = { isCut: false }
  const head = async () => {
    if (wire.isCut) throw new Unavailable('the wire is cut')
    return store.feed.head()
  }
  return { wire, store: { ...fromAfar(store), feed: { ...store.feed, head } } }
}

async function follow(store: Store) {
  const directory = new Directory({ publicUrl: '' })
  const lines: string[] = []
  const follower = new FeedFollower(
    store,
    [new StreamFeedSubscriber(store, directory)],
    createLog({ level: 'warn', readable: false, write: line => lines.push(line) }),
  )
  await follower.catchUp()
  const history = new History(store, directory, follower, MAX_WAIT_MILLISECONDS)
  /** A page as an operation cuts it. */
  const page = async (window: PageRequest): Promise<StreamPage> => {
    const point = pointIn(window)
    if (point !== undefined && !directory.knows(point)) await history.reach(point)
    return directory.page({}, window)
  }
  const shown = () =>
    directory
      .page({}, { first: 100, direction: 'forward' })
      .rows.map(row => [JSON.parse(row.json).user_id, row.viewer_count])
  return { follower, shown, lines, page, directory }
}

for (const engine of engines) {
  describe(`following the feed on ${engine}`, () => {
    const withStore = async (
      work: (store: Store, start: (user: string, viewers?: number) => Promise<unknown>) => Promise<void>,
    ) => {
      const { store, close } = await openTestStore(engine)
      for (const id of ['1', '2', '3']) {
        await store.commands.putUser({ id, login: `user${id}`, stream_key: anyStreamKey(id), now: NOW })
      }
      let streams = 0
      const start = (user_id: string, viewer_count = 0) => {
        streams += 1
        const started_at = '2026-03-01T12:00:00Z'
        return store.commands.startStream({
          user_id,
          stream_id: String(streams),
          video_id: String(streams),
          started_at,
          viewer_count,
        })
      }
      try {
        await work(store, start)
      } finally {
        await close()
      }
    }

    test('a change is visible when its command returns, and another follower finds it in the feed', () =>
      withStore(async (store, start) => {
        await start('1', 5)
        const near = await follow(store)
        expect(near.shown()).toEqual([['1', 5]])
        await start('2', 9)
        expect(near.shown()).toEqual([
          ['2', 9],
          ['1', 5],
        ])
        await store.commands.reportViewers({ counts: [['1', 20]] })
        expect(near.shown()).toEqual([
          ['1', 20],
          ['2', 9],
        ])
        await store.commands.endStream({ user_id: '2', now: NOW })
        expect(near.shown()).toEqual([['1', 20]])
      }))

    test('many at once are applied in the order of their commits', () =>
      withStore(async (store, start) => {
        const { shown } = await follow(store)
        await Promise.all(
          Array.from({ length: 40 }, async (_, n) => {
            const user = String((n % 3) + 1)
            await retryWhileUnavailable(() => start(user, n))
            await retryWhileUnavailable(() => store.commands.reportViewers({ counts: [[user, n * 10]] }))
            if (n % 4 === 0)
              await retryWhileUnavailable(() => store.commands.endStream({ user_id: user, now: NOW }))
          }),
        )
        const kept = await store.streams.live()
        expect(shown().toSorted()).toEqual(
          kept.map(stream => [stream.user_id, stream.viewer_count]).toSorted(),
        )
      }))

    test('a process that was too busy to read has not lost touch; one whose reads fail or are not answered has', () =>
      withStore(async store => {
        const far = losable(store)
        const { follower } = await follow(far.store)
        const before = performance.now()
        expect(follower.inTouchAt).toBeGreaterThanOrEqual(before)
        const reading = follower.catchUp()
        const began = follower.inTouchAt
        await Promise.resolve()
        expect(follower.inTouchAt).toBe(began)
        await reading
        expect(follower.inTouchAt).toBeGreaterThan(began)
        far.wire.isCut = true
        const cut = performance.now()
        await expect(follower.catchUp()).rejects.toThrow('cut')
        const again = performance.now()
        await expect(follower.catchUp()).rejects.toThrow('cut')
        expect(follower.inTouchAt).toBeGreaterThanOrEqual(cut)
        expect(follower.inTouchAt).toBeLessThanOrEqual(again)
        far.wire.isCut = false
        await follower.catchUp()
        expect(follower.inTouchAt).toBeGreaterThan(again)
      }))

    test('a gap in the feed is detected and everything reloaded', () =>
      withStore(async (store, start) => {
        const { follower, shown, lines } = await follow(fromAfar(store))
        await start('1', 1)
        await start('2', 2)
        const now = Date.now() + 3600_000
        await store.commands.sweep({ now, settled: now })
        expect(await store.feed.after(0, 10)).toEqual([])
        await start('3', 3)
        expect(shown()).toEqual([])
        await follower.catchUp()
        expect(shown()).toEqual([
          ['3', 3],
          ['2', 2],
          ['1', 1],
        ])
        expect(lines.join()).toContain('reloading everything')
      }))

    test('a forked feed is detected, also by hand-over, and everything reloaded', () =>
      withStore(async (store, start) => {
        await start('1', 1)
        const near = await follow(store)
        const far = await follow(fromAfar(store))
        const head = await store.feed.head()
        // Both hear of an entry that the store then loses, as a primary that fails may take the last ones with it.
        const lost = { seq: head.seq + 1, nonce: 'lost', previous: head.nonce }
        const change = { kind: 'end', user_id: '1', stream_id: '1', game_id: '', viewer_count: 1 } as const
        await near.follower.handOver([{ ...lost, change }])
        await far.follower.handOver([{ ...lost, change }])
        expect([near.shown(), far.shown()]).toEqual([[], []])
        await start('2', 2)
        await start('3', 3)
        const all = [
          ['3', 3],
          ['2', 2],
          ['1', 1],
        ]
        expect(near.shown()).toEqual(all)
        await far.follower.catchUp()
        expect(far.shown()).toEqual(all)
        for (const { lines } of [near, far]) expect(lines.join()).toContain('has forked')
      }))

    test('a feed that steps back is noticed', () =>
      withStore(async (store, start) => {
        await start('1', 1)
        const { follower, shown, lines } = await follow(fromAfar(store))
        const head = await store.feed.head()
        const change = { kind: 'end', user_id: '1', stream_id: '1', game_id: '', viewer_count: 1 } as const
        await follower.handOver([{ seq: head.seq + 1, nonce: 'lost', previous: head.nonce, change }])
        expect(shown()).toEqual([])
        await follower.catchUp()
        expect(shown()).toEqual([['1', 1]])
        expect(lines.join()).toContain('has forked')
      }))

    test('pages of one walk come from processes that are behind, ahead, or were started meanwhile', () =>
      withStore(async (store, start) => {
        const viewers = [3, 2, 1]
        for (const [n, count] of viewers.entries()) await start(String(n + 1), count)
        const near = await follow(store)
        const behind = await follow(fromAfar(store))
        await store.commands.reportViewers({ counts: [['1', 4]] })
        const first = await near.page({ first: 1, direction: 'forward' })
        await store.commands.reportViewers({
          counts: [
            ['1', 0],
            ['2', 1],
            ['3', 9],
          ],
        })
        const young = await follow(fromAfar(store))
        const seen: string[] = []
        let page = first
        for (const each of [behind, young]) {
          seen.push(...page.rows.map(row => `${JSON.parse(row.json).user_id}: ${row.viewer_count}`))
          const [last] = page.rows
          if (last === undefined) throw new Error('each page has a row')
          page = await each.page({
            first: 1,
            direction: 'forward',
            from: rankKey(last),
            cursorState: page.cursorState,
          })
          expect(page.cursorState).toEqual(first.cursorState)
        }
        seen.push(...page.rows.map(row => `${JSON.parse(row.json).user_id}: ${row.viewer_count}`))
        expect(seen).toEqual(['1: 4', '2: 2', '3: 1'])
        expect(page.more).toBe(false)
      }))

    test('a walk that began elsewhere is refused while the store is away, not torn, and continues when it is back', () =>
      withStore(async (store, start) => {
        for (const [n, count] of [3, 2, 1].entries()) await start(String(n + 1), count)
        const near = await follow(store)
        const far = losable(store)
        const { page } = await follow(far.store)
        far.wire.isCut = true
        await store.commands.reportViewers({ counts: [['3', 9]] })
        const { cursorState } = await near.page({ first: 1, direction: 'forward' })
        const next: PageRequest = { first: 5, direction: 'forward', from: [9, '3'], cursorState }
        const outcome = await page(next).catch(error => error)
        expect(outcome).toBeInstanceOf(Unavailable)
        far.wire.isCut = false
        expect((await page(next)).rows.map(row => row.viewer_count)).toEqual([3, 2])
      }))

    test('a point that the feed no longer leads to is not recalled, because entries in between are gone', () =>
      withStore(async (store, start) => {
        for (const [n, count] of [3, 2, 1].entries()) await start(String(n + 1), count)
        const near = await follow(store)
        const { cursorState } = await near.page({ first: 1, direction: 'forward' })
        const point = await store.feed.head()
        for (const count of [4, 5, 6]) await store.commands.reportViewers({ counts: [['1', count]] })
        const torn = (await store.feed.after(point.seq, 1))[0]?.seq
        const after = async (seq: number, limit: number) =>
          (await store.feed.after(seq, limit)).filter(entry => entry.seq !== torn)
        const young = await follow({ ...fromAfar(store), feed: { ...store.feed, after } })
        const { rows } = await young.page({ first: 5, direction: 'forward', from: [3, '1'], cursorState })
        expect(rows.map(row => row.viewer_count)).toEqual([2, 1])
        expect(young.directory.knows(point)).toBe(false)
      }))

    test('a point of another history, or one that is forgotten, lets the walk go on by sort key', () =>
      withStore(async (store, start) => {
        for (const [n, count] of [3, 2, 1].entries()) await start(String(n + 1), count)
        const { page } = await follow(store)
        const { seq } = await store.feed.head()
        for (const cursorState of [
          [seq, 'other'],
          [seq - 1, 'other'],
          [seq + 5, 'other'],
          [-7, ''],
        ]) {
          const { rows } = await page({ first: 5, direction: 'forward', from: [2, '2'], cursorState })
          expect(rows.map(row => row.viewer_count)).toEqual([1])
        }
      }))
  })
}
