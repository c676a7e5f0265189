/** What is read of streams after their ranks, on both engines. */
import { describe, expect, test } from 'bun:test'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { StreamFeedSubscriber } from '../../src/directory/stream-feed-subscriber.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { FeedFollower } from '../../src/store/follower.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const ALL: PageRequest = { first: 100, direction: 'forward' }
const log = createLog({ level: 'warn', readable: false, write: () => undefined })

/** As a server loads its directory. */
async function startWithRanks(store: Store) {
  const directory = new Directory({
    publicUrl: 'https://reef.example',
    details: {
      detailsOf: user_ids => store.streams.detailsOf(user_ids),
      gamesOf: ids => store.games.withIds(ids),
      catchUp: () => follower.catchUp(),
    },
  })
  const subscriber = new StreamFeedSubscriber(store, directory, { ranksFirst: true })
  const follower: FeedFollower = new FeedFollower(store, [subscriber], log)
  await follower.catchUp()
  return { directory, follower }
}

async function expectAsLoadedAtOnce(store: Store, directory: Directory): Promise<void> {
  const atOnce = new Directory({ publicUrl: 'https://reef.example' })
  atOnce.reload(await store.streams.live(), await store.feed.head())
  const shown = (each: Directory) => [
    each.page({}, ALL),
    each.page({ game_ids: ['10'] }, ALL),
    each.page({ languages: ['pt'] }, ALL),
    each.page({ user_logins: ['user1', 'user2', 'renamed'] }, ALL),
    each.pageOfGames(ALL),
  ]
  expect(shown(directory)).toEqual(shown(atOnce))
  expect(atOnce.size).toBeGreaterThan(0)
}

for (const engine of engines) {
  describe(`details of streams on ${engine}`, () => {
    const withStreams = async (work: (store: Store) => Promise<void>) => {
      const { store, close } = await openTestStore(engine)
      try {
        await store.commands.putGame({ id: '10', name: 'Tidefall "II" — Küste' })
        await store.commands.putGame({ id: '20', name: 'Lanterns' })
        for (let n = 1; n <= 6; n++) {
          const id = String(n)
          await store.commands.putUser({ id, login: `user${n}`, stream_key: anyStreamKey(id), now: NOW })
          await store.commands.changeChannel({
            user_id: id,
            video_id: String(100 + n),
            title: ['', 'quote " backslash \\ newline \n', 'ñ 海 🦀'][n % 3] ?? '',
            game_id: ['', '10', '20'][n % 3] ?? '',
            language: n % 2 === 0 ? 'pt' : 'en',
            tags: n % 3 === 0 ? [] : ['Cosy', `tag${n}`],
          })
          await start(store, id, n % 4)
        }
        await work(store)
      } finally {
        await close()
      }
    }
    const start = (store: Store, user_id: string, viewer_count: number) =>
      store.commands.startStream({
        user_id,
        stream_id: String(1000 + ++streams),
        video_id: String(2000 + streams),
        started_at: '2026-03-01T12:00:00Z',
        viewer_count,
      })

    test('are those of a load at once', () =>
      withStreams(async store => {
        const { directory } = await startWithRanks(store)
        expect([directory.size, directory.isComplete]).toEqual([6, false])
        await directory.complete()
        await expectAsLoadedAtOnce(store, directory)
      }))

    test('also after changes that commit between the ranks and the details', () =>
      withStreams(async store => {
        const { directory, follower } = await startWithRanks({ ...store, onChange: () => undefined })
        await store.commands.putUser({ id: '1', login: 'renamed', stream_key: anyStreamKey('1'), now: NOW })
        await store.commands.putGame({ id: '10', name: 'Another name' })
        await store.commands.endStream({ user_id: '2', now: NOW })
        await start(store, '2', 9)
        await store.commands.deleteUser({ id: '3', now: NOW })
        await store.commands.endStream({ user_id: '4', now: NOW })
        await store.commands.reportViewers({ counts: [['5', 40]] })
        await directory.complete()
        expect(directory.isComplete).toBe(true)
        await follower.catchUp()
        await expectAsLoadedAtOnce(store, directory)
      }))
  })
}
let streams = 0
