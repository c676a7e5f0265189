/** A directory that starts with ranks and reads details later answers like one that has read everything. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { parseChannelSearch } from '../../src/domain/search/channel-search.ts'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { FeedPoint, LiveStream } from '../../src/store/feed.ts'
import { runs } from '../support/properties.ts'
import { live, World } from './world.ts'

const ALL: PageRequest = { first: 100, direction: 'forward' }
const GAMES = ['', '1', '2', '3']
const gameName = (id: string) => (id === '' ? '' : `Game ${id}`)

/** A world whose channels stay when their streams end. */
class Channels extends World {
  readonly channels = new Map<string, LiveStream>()
  reads = 0
  isAway = false

  change(n: number, changes: { game_id: string; title: string; viewer_count: number }): void {
    this.put(n, { ...changes, game_name: gameName(changes.game_id) })
    const stream = this.of(n)
    if (stream !== undefined) this.channels.set(stream.user_id, stream)
  }

  delete(n: number): void {
    this.end(n)
    this.channels.delete(String(n))
  }

  detailsOf(user_ids: readonly string[]) {
    this.reads += 1
    if (this.isAway) throw new Unavailable('the store is away')
    return user_ids.flatMap(id => this.channels.get(id) ?? []).map(({ id, viewer_count, ...shown }) => shown)
  }

  gamesOf(ids: readonly string[]) {
    return ids.map(id => ({ id, name: gameName(id) }))
  }
}

/** A process that has loaded the ranks of a world, as of some entries ago. */
class Late {
  readonly directory: Directory
  readonly #world: Channels
  #applied: number

  constructor(world: Channels, entriesAgo = 0) {
    this.#world = world
    this.#applied = Math.max(0, world.feed.length - entriesAgo)
    this.directory = new Directory({
      publicUrl: '',
      details: {
        detailsOf: async user_ids => world.detailsOf(user_ids),
        gamesOf: async ids => world.gamesOf(ids),
        catchUp: async () => this.follow(),
      },
    })
    const point: FeedPoint = world.feed[this.#applied - 1] ?? { seq: 0, nonce: '' }
    const since = world.feed.slice(this.#applied)
    this.directory.reloadRanked([...world.streams.values()], point)
    this.follow()
    this.directory.retrace(point, since)
  }

  follow(entries = Number.POSITIVE_INFINITY): void {
    for (const entry of this.#world.feed.slice(this.#applied, this.#applied + entries)) {
      this.directory.apply(entry)
      this.#applied += 1
    }
  }

  page(window = ALL) {
    return this.directory.completePage(() => this.directory.page({}, window))
  }
}

/** What a directory with all details shows: pages by every filter, games, searches. */
async function shownBy(directory: Directory) {
  const search = assertDefined(parseChannelSearch('user1'), 'a search')
  return {
    all: directory.page({}, ALL),
    byGame: GAMES.map(id => directory.page({ game_ids: [id] }, ALL)),
    byLanguage: directory.page({ languages: ['en'] }, ALL),
    byLogin: directory.page({ user_logins: ['user1', 'user2', 'user3'] }, ALL),
    games: directory.pageOfGames(ALL),
    viewers: [...directory.viewersOfGames(directory.pageOfGames(ALL).rows.map(({ id }) => id))],
    found: directory.search(search, ALL).rows.map(row => row.user_login),
    latest: directory.latest(5).length,
  }
}

function ordinaryOf(world: Channels): Directory {
  const directory = new Directory({ publicUrl: '' })
  directory.reload([...world.streams.values()], world.head)
  return directory
}

const started = (streams: number): Channels => {
  const world = new Channels()
  for (let n = 0; n < streams; n++)
    world.change(n, { game_id: GAMES[n % 4] ?? '', title: `Title "${n}"`, viewer_count: n % 7 })
  return world
}

type Happening =
  | { kind: 'change'; n: number; game: number; viewer_count: number }
  | { kind: 'end'; n: number }
  | { kind: 'delete'; n: number }
  | { kind: 'watch'; n: number; viewer_count: number }
  | { kind: 'follow'; entries: number }
  | { kind: 'page'; first: number }

const n = fc.nat(24)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant('change' as const), n, game: fc.nat(3), viewer_count: fc.nat(9) }),
  fc.record({ kind: fc.constant('end' as const), n }),
  fc.record({ kind: fc.constant('delete' as const), n }),
  fc.record({ kind: fc.constant('watch' as const), n, viewer_count: fc.nat(9) }),
  fc.record({ kind: fc.constant('follow' as const), entries: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('page' as const), first: fc.integer({ min: 1, max: 5 }) }),
)

async function play(world: Channels, late: Late, each: Happening): Promise<void> {
  if (each.kind === 'change')
    world.change(each.n, {
      game_id: GAMES[each.game] ?? '',
      title: `Title ${each.viewer_count}`,
      viewer_count: each.viewer_count,
    })
  else if (each.kind === 'end') world.end(each.n)
  else if (each.kind === 'delete') world.delete(each.n)
  else if (each.kind === 'watch') world.watch([[each.n, each.viewer_count]])
  else if (each.kind === 'follow') late.follow(each.entries)
  else
    for (const { json } of (await late.page({ first: each.first, direction: 'forward' })).rows)
      expect(JSON.parse(json).title).toStartWith('Title')
}

describe('a directory that reads details later', () => {
  test('property: shows what one shows that has read everything, whatever happens in between', () =>
    fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 40 }), fc.nat(6), async (happenings, entriesAgo) => {
        const world = started(20)
        const late = new Late(world, entriesAgo)
        const first = ordinaryOf(world).pageOfGames(ALL)
        for (const each of happenings) await play(world, late, each)
        late.follow()
        const now = await late.page()
        expect(now).toEqual(ordinaryOf(world).page({}, ALL))
        await late.directory.complete()
        expect(late.directory.isComplete).toBe(true)
        expect(await shownBy(late.directory)).toEqual(await shownBy(ordinaryOf(world)))
        // The totals of games at the point where it started.
        const remaining = new Set(late.directory.pageOfGames(ALL).rows.map(row => row.id))
        const then = late.directory.pageOfGames({ ...ALL, cursorState: first.cursorState })
        expect(then.rows).toEqual(first.rows.filter(row => remaining.has(row.id)))
      }),
      { numRuns: runs(300) },
    ))

  test('reads the details of the streams that a page shows, and the rest once', async () => {
    const world = started(2000)
    const late = new Late(world)
    const { directory } = late
    expect(directory.isComplete).toBe(false)
    expect((await late.page({ first: 3, direction: 'forward' })).rows).toHaveLength(3)
    expect([world.reads, directory.isComplete]).toEqual([1, false])
    await late.page({ first: 3, direction: 'forward' })
    expect(world.reads).toBe(1)
    await Promise.all([directory.complete(), directory.complete()])
    expect([world.reads, directory.isComplete]).toEqual([5, true])
    await directory.complete()
    expect(world.reads).toBe(5)
  })

  test('fails while they cannot be read, and continues afterwards', async () => {
    const world = started(2000)
    const late = new Late(world)
    const { directory } = late
    world.isAway = true
    await expect(directory.complete()).rejects.toThrow(Unavailable)
    await expect(late.page(ALL)).rejects.toThrow(Unavailable)
    world.isAway = false
    await directory.complete()
    expect(directory.page({}, ALL)).toEqual(ordinaryOf(world).page({}, ALL))
  })

  test('omits a stream whose user has no channel', async () => {
    const world = started(3)
    world.channels.delete('1')
    const late = new Late(world)
    const { directory } = late
    const users = (await late.page(ALL)).rows.map(row => JSON.parse(row.json).user_id)
    expect(users.sort()).toEqual(['0', '2'])
    await directory.complete()
    expect(directory.size).toBe(2)
  })

  test('takes details from the feed if they come first, and does not replace them', async () => {
    const world = started(2)
    const late = new Late(world)
    world.change(1, { game_id: '2', title: 'Title of the feed', viewer_count: 3 })
    late.follow()
    world.channels.set('1', live(1, { title: 'Title of the store' }))
    await late.directory.complete()
    const titles = late.directory.page({ user_ids: ['1'] }, ALL).rows.map(row => JSON.parse(row.json).title)
    expect(titles).toEqual(['Title of the feed'])
  })
})
