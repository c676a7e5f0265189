/** Every command that changes a live stream writes to the feed what totals by game need to be found again at an earlier point. */
import { describe, expect, test } from 'bun:test'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { History } from '../../src/directory/history.ts'
import { StreamFeedSubscriber } from '../../src/directory/stream-feed-subscriber.ts'
import { pointIn } from '../../src/directory/stream-page.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { FeedFollower } from '../../src/store/follower.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const USERS = 12
const GAMES = ['10', '20', '30', '40']
const ALL: PageRequest = { first: 100, direction: 'forward' }

/** Another process on the same store: it reads the feed. */
async function startProcess(store: Store) {
  const directory = new Directory({ publicUrl: '' })
  const afar: Store = { ...store, onChange: () => undefined }
  const log = createLog({ level: 'warn', readable: false, write: () => undefined })
  const follower = new FeedFollower(afar, [new StreamFeedSubscriber(afar, directory)], log)
  await follower.catchUp()
  return { directory, follower, history: new History(afar, directory, follower) }
}

/** The commands that change what is live, one after the other. */
const steps: readonly [string, (store: Store) => Promise<unknown>][] = [
  ['a stream starts', store => start(store, 11, 7)],
  [
    'viewers change',
    store =>
      store.commands.reportViewers({
        counts: [
          ['100', 90],
          ['101', 1],
          ['105', 33],
        ],
      }),
  ],
  ['a channel changes its game', store => change(store, 101, { game_id: '40' })],
  ['a channel has no game any more', store => change(store, 102, { game_id: '' })],
  ['a stream ends', store => store.commands.endStream({ user_id: '103', now: NOW })],
  [
    'a stream of another game starts in its place',
    async store => {
      await change(store, 103, { game_id: '20' })
      await start(store, 3, 55)
    },
  ],
  ['a running stream gets another count', store => start(store, 4, 1000)],
  ['a user is deleted', store => store.commands.deleteUser({ id: '105', now: NOW })],
  ['a game gets another name', store => store.commands.putGame({ id: '20', name: 'Renamed' })],
  ['a user gets another name', store => putUser(store, 6, 'renamed')],
  ['a game is deleted', store => store.commands.deleteGame({ id: '30' })],
]

const putUser = (store: Store, n: number, login = `user${n}`) => {
  const id = String(100 + n)
  return store.commands.putUser({ id, login, stream_key: anyStreamKey(id), now: NOW })
}

const start = (store: Store, n: number, viewer_count: number) => {
  starts += 1
  return store.commands.startStream({
    user_id: String(100 + n),
    stream_id: String(5000 + starts),
    video_id: String(7000 + starts),
    started_at: '2026-03-01T12:00:00Z',
    viewer_count,
  })
}
let starts = 0

const change = (store: Store, user_id: number, fields: { game_id: string }) =>
  store.commands.changeChannel({ user_id: String(user_id), video_id: '1', ...fields })

for (const engine of engines) {
  test(`totals by game at earlier points, found again from the feed on ${engine}`, async () => {
    const { store, close } = await openTestStore(engine)
    try {
      for (const id of GAMES) await store.commands.putGame({ id, name: `Game ${id}` })
      for (let n = 0; n < USERS; n++) {
        await putUser(store, n)
        await change(store, 100 + n, { game_id: GAMES[n % 4] ?? '' })
        if (n < 11) await start(store, n, 10 + n * n)
      }
      const before = await startProcess(store)
      const first = before.directory.pageOfGames(ALL)
      expect(first.rows).toHaveLength(4)
      const window = { ...ALL, cursorState: first.cursorState }
      for (const [title, command] of steps) {
        expect([title, await command(store)]).not.toEqual([title, { problem: expect.anything() }])
        await before.follower.catchUp()
        const after = await startProcess(store)
        await after.history.reach(assertDefined(pointIn(window), 'a point'))
        const live = new Set(after.directory.pageOfGames(ALL).rows.map(row => row.id))
        const expected = first.rows.filter(row => live.has(row.id))
        expect([title, before.directory.pageOfGames(window).rows]).toEqual([title, expected])
        expect([title, after.directory.pageOfGames(window).rows]).toEqual([title, expected])
      }
    } finally {
      await close()
    }
  })
}

describe('a change of the id at IGDB', () => {
  for (const engine of engines) {
    test(`is in the feed if the game has a live stream, on ${engine}`, async () => {
      const { store, close } = await openTestStore(engine)
      try {
        await store.commands.putGame({ id: '10', name: 'Played' })
        await store.commands.putGame({ id: '20', name: 'Not played' })
        await putUser(store, 1)
        await change(store, 101, { game_id: '10' })
        await start(store, 1, 5)
        const { directory, follower } = await startProcess(store)
        const versionAfter = async (id: string, igdb_id: string) => {
          await store.commands.putGame({ id, igdb_id })
          await follower.catchUp()
          return directory.rankingVersion
        }
        const version = directory.rankingVersion
        expect(await versionAfter('20', '1')).toBe(version)
        const next = await versionAfter('10', '2')
        expect(next).toBeGreaterThan(version)
        expect(await versionAfter('10', '2')).toBe(next)
      } finally {
        await close()
      }
    })
  }
})
