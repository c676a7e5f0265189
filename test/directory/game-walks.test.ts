/** Walks through the top games keep the promise of walks through streams (D-33, D-75), and rank by the same totals everywhere. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory } from '../../src/directory/directory.ts'
import { pointIn, rankKey, type WalkPage } from '../../src/directory/stream-page.ts'
import { compareRank, type Rank } from '../../src/domain/ranking.ts'
import type { FeedEntry, FeedPoint } from '../../src/store/feed.ts'
import { runs } from '../support/properties.ts'
import { Cluster, type Event, event, type MakeDirectory, Node, ordinary, World } from './world.ts'

/** The games of a world by their total viewers, as a plain search finds them. */
function gamesOf({ streams }: World): Rank[] {
  const totals = new Map<string, number>()
  for (const { game_id, viewer_count } of streams.values())
    if (game_id !== '') totals.set(game_id, (totals.get(game_id) ?? 0) + viewer_count)
  return [...totals].map(([id, viewer_count]) => ({ id, viewer_count })).sort(compareRank)
}

const liveGames = (world: World) => new Set(gamesOf(world).map(game => game.id))

/** A walk that is under way. */
class Walker {
  readonly seen: Rank[] = []
  #window: PageRequest
  done = false

  constructor(window: PageRequest = { first: 1, direction: 'forward' }) {
    this.#window = window
  }

  step(node: Node, first: number): WalkPage<Rank> | undefined {
    if (this.done) return undefined
    node.reach(pointIn(this.#window))
    const page = node.directory.pageOfGames({ ...this.#window, first })
    expect(page.rows.length).toBeLessThanOrEqual(first)
    const { direction } = this.#window
    if (direction === 'forward') this.seen.push(...page.rows)
    else this.seen.unshift(...page.rows)
    const next = direction === 'forward' ? page.rows.at(-1) : page.rows[0]
    if (!page.more || next === undefined) this.done = true
    else this.#window = { first, direction, from: rankKey(next), cursorState: page.cursorState }
    return page
  }
}

interface Course {
  readonly events: readonly Event[]
  /** Backwards: from the last game to the top. */
  readonly backward: boolean
}

/** More games than streams of each: games come and go, and move past each other with every report. */
const gameEvent = event.map(each =>
  each.kind === 'put' ? { ...each, game: (each.n * 7 + each.game) % 9 } : each,
)
const course: fc.Arbitrary<Course> = fc.record({
  events: fc.array(gameEvent, { maxLength: 60 }),
  backward: fc.boolean(),
})

/** Plays events, and returns which games had a live stream throughout, the ranking of the walk, and what the walker saw. */
function play({ events, backward }: Course, make: MakeDirectory) {
  const cluster = new Cluster(make)
  const { world } = cluster
  for (let n = 0; n < 20; n++) world.put(n, { game_id: n % 7 === 6 ? '' : String(n % 10) })
  cluster.node(0).follow()
  const ranking = gamesOf(world)
  const throughout = liveGames(world)
  let walker = new Walker()
  const first = walker.step(cluster.node(0), backward ? 100 : 1)
  const last = ranking.at(-1)
  if (backward && first !== undefined && last !== undefined) {
    const [from, { cursorState }] = [rankKey(last), first]
    walker = new Walker({ first: 1, direction: 'backward', from, cursorState })
    throughout.delete(last.id)
  }
  for (const each of events) {
    if (each.kind === 'step') walker.step(cluster.node(each.node), each.first)
    else cluster.play(each)
    const now = liveGames(world)
    for (const id of throughout) if (!now.has(id)) throughout.delete(id)
  }
  for (let steps = 0; !walker.done; steps++) walker.step(cluster.node(steps), 2)
  return { seen: walker.seen, throughout, ranking }
}

/** What was seen is a part of the ranking of the walk, in its order, and has every game that was live throughout. */
function promiseHolds({ seen, throughout, ranking }: ReturnType<typeof play>): boolean {
  const places = seen.map(row => ranking.findIndex(({ id }) => id === row.id))
  const ids = new Set(seen.map(row => row.id))
  return (
    places.every((place, index) => place > (places[index - 1] ?? -1)) &&
    seen.every((row, index) => row.viewer_count === ranking[places[index] as number]?.viewer_count) &&
    [...throughout].every(id => ids.has(id))
  )
}

/** With a fixed seed, which soon finds each defect: chance must not decide. */
const isCaught = (make: MakeDirectory): boolean =>
  fc.check(
    fc.property(course, each => promiseHolds(play(each, make))),
    { numRuns: 2000, seed: 6, endOnFailure: true },
  ).failed

describe('walks through the top games', () => {
  test('property: a game with a live stream throughout appears exactly once, with the totals of the first page, on any process', () => {
    fc.assert(
      fc.property(course, each => promiseHolds(play(each, ordinary))),
      { numRuns: runs(1000) },
    )
  })

  test('the test above catches a directory that ranks by current totals', () => {
    class Forgetful extends Directory {
      override pageOfGames({ cursorState: _, ...window }: PageRequest) {
        return super.pageOfGames(window)
      }
    }
    expect(isCaught(monotonic => new Forgetful({ publicUrl: '', monotonic }))).toBe(true)
  })

  test('the test above catches a process that recalls entries without what ended streams had', () => {
    class Bare extends Directory {
      override recall(entries: readonly FeedEntry[]): boolean {
        return super.recall(entries.map(withoutFacts))
      }
    }
    expect(isCaught(monotonic => new Bare({ publicUrl: '', monotonic }))).toBe(true)
  })

  test('the test above catches a process that recalls entries without the former games', () => {
    class Bare extends Directory {
      override recall(entries: readonly FeedEntry[]): boolean {
        return super.recall(entries.map(withoutFormerGame))
      }
    }
    expect(isCaught(monotonic => new Bare({ publicUrl: '', monotonic }))).toBe(true)
  })

  test('the test above catches a process that takes its first entries for differences to what it had read', () => {
    class Hasty extends Directory {
      override retrace(): void {}
    }
    expect(isCaught(monotonic => new Hasty({ publicUrl: '', monotonic }))).toBe(true)
  })

  test('games without a live stream, and streams without a game, do not count', () => {
    const world = new World()
    world.put(1, { game_id: '', viewer_count: 100 })
    world.put(2, { game_id: '7', viewer_count: 0 })
    world.put(3, { game_id: '8', viewer_count: 5 })
    const node = new Node(world, ordinary)
    world.end(3)
    node.follow()
    const page = node.directory.pageOfGames({ first: 20, direction: 'forward' })
    expect(page.rows).toEqual([{ id: '7', viewer_count: 0 }])
    expect([...node.directory.viewersOfGames(['8', '7', '', 'none'])]).toEqual([['7', 0]])
    world.put(2, { game_id: '' })
    node.follow()
    expect(node.directory.pageOfGames({ first: 20, direction: 'forward' }).rows).toEqual([])
  })

  test('most viewers first, then the larger id as a number, also with totals beyond 32 bits', () => {
    const world = new World()
    for (const [n, game_id] of ['9', '10', '100', '3', '3'].entries())
      world.put(n, { game_id, viewer_count: game_id === '3' ? 2_000_000_000 : 5 })
    const { directory } = new Node(world, ordinary)
    const { rows } = directory.pageOfGames({ first: 9, direction: 'forward' })
    expect(rows.map(row => row.id)).toEqual(['3', '100', '10', '9'])
    expect(rows[0]?.viewer_count).toBe(4_000_000_000)
    expect(directory.viewersOfGames(['10', '3']).get('3')).toBe(4_000_000_000)
  })

  test('a cursor whose point is forgotten continues by sort key', () => {
    let now = 0
    const world = new World()
    for (let n = 0; n < 10; n++) world.put(n, { viewer_count: n, game_id: String(n) })
    const node = new Node(world, ordinary, () => now)
    const page = node.directory.pageOfGames({ first: 4, direction: 'forward' })
    for (let times = 0; times < 3; times++) {
      now += 4 * 60 * 1000
      world.watch([[0, 50 + times]])
      node.follow()
    }
    node.directory.page({}, { first: 1, direction: 'forward' })
    const window: PageRequest = { first: 100, direction: 'forward', cursorState: page.cursorState }
    expect(node.directory.knows(pointIn(window) as FeedPoint)).toBe(false)
    const next = node.directory.pageOfGames({ ...window, from: rankKey(page.rows.at(-1) as Rank) })
    expect(next.rows.map(row => row.id)).toEqual(['5', '4', '3', '2', '1'])
  })
})

function withoutFacts(entry: FeedEntry): FeedEntry {
  if (entry.change.kind !== 'end') return entry
  return { ...entry, change: { ...entry.change, game_id: '', viewer_count: 0 } }
}

function withoutFormerGame(entry: FeedEntry): FeedEntry {
  if (entry.change.kind !== 'stream') return entry
  return { ...entry, change: { ...entry.change, was_game_id: entry.change.stream.game_id } }
}
