import { describe, expect, test } from 'bun:test'
import { Directory } from '../../src/directory/directory.ts'
import { createLog } from '../../src/kit/log.ts'
import type { Change } from '../../src/store/feed.ts'
import { FeedFollower } from '../../src/store/follower.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

async function follow(store: Store) {
  const directory = new Directory({ publicUrl: '' })
  const lines: string[] = []
  const showing = {
    reload: async () => directory.reload(await store.streams.live()),
    apply: (change: Change) => directory.apply(change),
  }
  const follower = new FeedFollower(
    store,
    [showing],
    createLog({ level: 'warn', readable: false, write: line => lines.push(line) }),
  )
  await follower.load()
  const shown = () =>
    directory
      .page({}, { first: 100, direction: 'forward' })
      .rows.map(row => [JSON.parse(row.json).user_id, row.viewer_count])
  return { follower, shown, lines }
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
            await start(user, n)
            await store.commands.reportViewers({ counts: [[user, n * 10]] })
            if (n % 4 === 0) await store.commands.endStream({ user_id: user, now: NOW })
          }),
        )
        const kept = await store.streams.live()
        expect(shown().toSorted()).toEqual(
          kept.map(stream => [stream.user_id, stream.viewer_count]).toSorted(),
        )
      }))

    test('a gap in the feed is noticed and everything loaded anew', () =>
      withStore(async (store, start) => {
        const { follower, shown, lines } = await follow({ ...store, onChange: () => undefined })
        await start('1', 1)
        await start('2', 2)
        await store.commands.sweep({ now: Date.now() + 3600_000 })
        expect(await store.feed.after(0, 10)).toEqual([])
        await start('3', 3)
        expect(shown()).toEqual([])
        await follower.catchUp()
        expect(shown()).toEqual([
          ['3', 3],
          ['2', 2],
          ['1', 1],
        ])
        expect(lines.join()).toContain('loading everything anew')
      }))
  })
}
