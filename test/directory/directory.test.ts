import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Window } from '../../src/contract/page.ts'
import { Directory, type StreamFilter } from '../../src/directory/directory.ts'
import type { RenderedStream } from '../../src/directory/row.ts'
import { pointIn, rankKey, type StreamPage } from '../../src/directory/stream-page.ts'
import type { Change, FeedEntry, FeedPoint, LiveStream } from '../../src/store/feed.ts'

function live(n: number, changes: Partial<LiveStream> = {}): LiveStream {
  return {
    id: String(1000 + n),
    user_id: String(n),
    user_login: `user${n}`,
    user_name: `User${n}`,
    game_id: '1',
    game_name: 'Game',
    title: '',
    viewer_count: 0,
    started_at: '2026-03-01T12:00:00Z',
    language: 'en',
    tags: [],
    is_mature: false,
    ...changes,
  }
}

type MakeDirectory = (monotonic: () => number) => Directory

const ordinary: MakeDirectory = monotonic => new Directory({ publicUrl: '', monotonic })

/** What the store is to processes that follow it: the truth, and the feed that leads to it. */
class World {
  readonly streams = new Map<string, LiveStream>()
  readonly feed: FeedEntry[] = []
  #starts = 0

  get head(): FeedPoint {
    return this.feed.at(-1) ?? { seq: 0, nonce: '' }
  }

  /** Goes live under a new id, or, if live already, is told of again. */
  put(n: number, changes: Partial<LiveStream>): void {
    const running = this.of(n)
    this.#starts += 1
    const id = running?.id ?? String(1000 * this.#starts + n)
    const stream = live(n, { ...running, id, ...changes })
    this.streams.set(stream.id, stream)
    this.#publish({ kind: 'stream', stream, was: running?.viewer_count ?? null })
  }

  end(n: number): void {
    const running = this.of(n)
    if (running === undefined) return
    this.streams.delete(running.id)
    this.#publish({ kind: 'end', user_id: running.user_id, stream_id: running.id })
  }

  watch(counts: readonly (readonly [n: number, viewers: number])[]): void {
    const stream_ids: string[] = []
    const now: number[] = []
    const was: number[] = []
    for (const [n, viewers] of new Map(counts)) {
      const running = this.of(n)
      if (running === undefined) continue
      stream_ids.push(running.id)
      now.push(viewers)
      was.push(running.viewer_count)
      this.streams.set(running.id, { ...running, viewer_count: viewers })
    }
    this.#publish({ kind: 'viewers', stream_ids, viewers: now, was })
  }

  of(n: number): LiveStream | undefined {
    return [...this.streams.values()].find(stream => stream.user_id === String(n))
  }

  #publish(change: Change): void {
    const { seq, nonce } = this.head
    this.feed.push({ seq: seq + 1, nonce: `nonce${seq + 1}`, previous: nonce, change })
  }
}

/** A process that follows the world, at its own pace. */
class Node {
  readonly #world: World
  readonly #make: MakeDirectory
  readonly #monotonic: () => number
  directory: Directory
  #applied = 0

  constructor(world: World, make: MakeDirectory, monotonic: () => number = () => 0) {
    this.#world = world
    this.#make = make
    this.#monotonic = monotonic
    this.directory = this.restart()
  }

  restart(): Directory {
    this.directory = this.#make(this.#monotonic)
    this.directory.reload([...this.#world.streams.values()], this.#world.head)
    this.#applied = this.#world.feed.length
    return this.directory
  }

  follow(entries = Number.POSITIVE_INFINITY): void {
    for (const entry of this.#world.feed.slice(this.#applied, this.#applied + entries)) {
      this.directory.apply(entry)
      this.#applied += 1
    }
  }

  /** What `History` does with a store. */
  reach(point: FeedPoint | undefined): void {
    if (point === undefined || this.directory.knows(point)) return
    this.follow()
    if (this.directory.knows(point)) return
    const { oldest } = this.directory
    const entries = this.#world.feed.filter(({ seq }) => seq >= point.seq && seq <= oldest.seq)
    expect(this.directory.recall(entries)).toBe(true)
  }
}

/** A walk that is under way: asks for one page after another as a client does, through the keys of the last page. */
class Walker {
  readonly seen: string[] = []
  readonly #filter: StreamFilter
  readonly #direction: Window['direction']
  #window: Window
  done = false

  constructor(filter: StreamFilter, window: Window = { first: 3, direction: 'forward' }) {
    this.#filter = filter
    this.#direction = window.direction
    this.#window = window
  }

  step(node: Node, first: number): StreamPage | undefined {
    if (this.done) return undefined
    node.reach(pointIn(this.#window))
    const page = node.directory.page(this.#filter, { ...this.#window, first })
    expect(page.rows.length).toBeLessThanOrEqual(first)
    expectOrder(page.rows)
    this.seen.push(...page.rows.map(row => row.id))
    const next = this.#direction === 'forward' ? page.rows.at(-1) : page.rows[0]
    if (!page.more || next === undefined) this.done = true
    else this.#window = { first, direction: this.#direction, from: rankKey(next), memory: page.memory }
    return page
  }
}

function expectOrder(rows: readonly RenderedStream[]): void {
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1]
    if (next === undefined) continue
    const inOrder =
      row.viewer_count > next.viewer_count ||
      (row.viewer_count === next.viewer_count && BigInt(row.id) > BigInt(next.id))
    expect(inOrder).toBe(true)
  }
}

type Event =
  | { kind: 'put'; n: number; viewers: number; game: number }
  | { kind: 'end'; n: number }
  | { kind: 'viewers'; counts: [number, number][] }
  | { kind: 'step'; first: number; node: number }
  | { kind: 'follow'; node: number; entries: number }
  | { kind: 'restart'; node: number }
  | { kind: 'wait'; milliseconds: number }

const NODES = 3
const who = fc.nat(29)
const viewers = fc.nat(6)
const node = fc.nat(NODES - 1)
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), n: who, viewers, game: fc.nat(2) }),
  fc.record({ kind: fc.constant('end' as const), n: who }),
  fc.record({
    kind: fc.constant('viewers' as const),
    counts: fc.array(fc.tuple(who, viewers), { maxLength: 30 }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      first: fc.integer({ min: 1, max: 6 }),
      node,
    }),
  },
  fc.record({ kind: fc.constant('follow' as const), node, entries: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('restart' as const), node }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 5000 }) }),
)

interface Course {
  readonly events: readonly Event[]
  readonly games: readonly string[]
  /** Backwards: from the second page of five rows to the top. */
  readonly backward: boolean
}

/** Plays events and says which streams were live and matching throughout, and what the walker saw. */
function play({ events, games, backward }: Course, make: MakeDirectory) {
  let now = 0
  const world = new World()
  const nodes = Array.from({ length: NODES }, () => new Node(world, make, () => now))
  const nodeAt = (index: number) => nodes[index] as Node
  for (let n = 0; n < 20; n++) world.put(n, { viewer_count: n % 4, game_id: String(n % 3) })
  nodeAt(0).follow()

  const filter = games.length > 0 ? { game_ids: games } : {}
  const matches = (id: string) => {
    const stream = world.streams.get(id)
    return stream !== undefined && (games.length === 0 || games.includes(stream.game_id))
  }
  let walker = new Walker(filter)
  let throughout = new Set([...world.streams.keys()].filter(matches))
  if (backward) {
    const top = walker.step(nodeAt(0), 5)
    const second = walker.step(nodeAt(0), 2)
    const [row] = second?.rows ?? []
    if (top === undefined || row === undefined || second === undefined) throw new Error('there are two pages')
    throughout = new Set(top.rows.map(each => each.id))
    walker = new Walker(filter, {
      first: 3,
      direction: 'backward',
      from: rankKey(row),
      memory: second.memory,
    })
  } else walker.step(nodeAt(0), 2)

  const everLive = new Set(world.streams.keys())
  for (const each of events) {
    if (each.kind === 'put') world.put(each.n, { viewer_count: each.viewers, game_id: String(each.game) })
    else if (each.kind === 'end') world.end(each.n)
    else if (each.kind === 'viewers') world.watch(each.counts)
    else if (each.kind === 'wait') now += each.milliseconds
    else if (each.kind === 'follow') nodeAt(each.node).follow(each.entries)
    else if (each.kind === 'restart') nodeAt(each.node).restart()
    else walker.step(nodeAt(each.node), each.first)
    for (const id of world.streams.keys()) everLive.add(id)
    for (const id of throughout) if (!matches(id)) throughout.delete(id)
  }
  for (let steps = 0; !walker.done; steps++) walker.step(nodeAt(steps % NODES), 5)
  return { seen: walker.seen, throughout, everLive }
}

function promiseHolds({ seen, throughout, everLive }: ReturnType<typeof play>): boolean {
  const ids = new Set(seen)
  return (
    ids.size === seen.length && [...throughout].every(id => ids.has(id)) && seen.every(id => everLive.has(id))
  )
}

const course: fc.Arbitrary<Course> = fc.record({
  events: fc.array(event, { maxLength: 60 }),
  games: fc.constantFrom([], ['0'], ['0', '2']),
  backward: fc.boolean(),
})

/** A directory with these streams, all of which have just started. */
function directoryOf(streams: readonly LiveStream[]): Directory {
  const directory = new Directory({ publicUrl: '' })
  directory.reload(streams, { seq: 0, nonce: '' })
  return directory
}

describe('the directory', () => {
  test('while the feed cannot be read, walks begin at a point that other processes have read too', () => {
    let [now, inTouch] = [10_000, 10_000]
    const directory = new Directory({ publicUrl: '', monotonic: () => now, inTouchAt: () => inTouch })
    const [one, two] = [live(1, { viewer_count: 5 }), live(2, { viewer_count: 3 })]
    directory.reload([one, two], { seq: 0, nonce: '' })
    const watch = (seq: number, viewers: readonly [number, number], was: readonly [number, number]) =>
      directory.apply({
        seq,
        nonce: `nonce ${seq}`,
        previous: seq === 1 ? '' : `nonce ${seq - 1}`,
        change: { kind: 'viewers', stream_ids: [one.id, two.id], viewers, was },
      })
    const begin = () => {
      const page = directory.page({}, { first: 1, direction: 'forward' })
      return [pointIn({ first: 1, direction: 'forward', memory: page.memory })?.seq, page.rows[0]?.id]
    }
    watch(1, [5, 7], [5, 3])
    now += 1000
    inTouch = now
    watch(2, [9, 7], [5, 7])
    const before = directory.rankingVersion
    expect(begin()).toEqual([2, one.id])
    now += 500
    expect(begin()).toEqual([1, two.id])
    expect(directory.rankingVersion).not.toBe(before)
    inTouch = now
    expect(begin()).toEqual([2, one.id])
  })

  test('a walk shows what is live throughout exactly once, whatever changes and whichever process answers', () => {
    fc.assert(
      fc.property(course, each => promiseHolds(play(each, ordinary))),
      { numRuns: 2000 },
    )
  })

  test('the test above catches a directory that ranks by current counts', () => {
    class Forgetful extends Directory {
      override page(filter: StreamFilter, { memory: _, ...window }: Window): StreamPage {
        return super.page(filter, window)
      }
    }
    const forgetful: MakeDirectory = monotonic => new Forgetful({ publicUrl: '', monotonic })
    const check = fc.check(
      fc.property(course, each => promiseHolds(play(each, forgetful))),
      { numRuns: 1000 },
    )
    expect(check.failed).toBe(true)
  })

  test('the test above catches processes that each take the moment of arrival for the point of the walk', () => {
    class Hasty extends Directory {
      readonly #points = new Map<string, FeedPoint>()

      override page(filter: StreamFilter, window: Window): StreamPage {
        const point = pointIn(window)
        if (point === undefined) return super.page(filter, window)
        const [seq, nonce] = super.page(filter, { first: 1, direction: 'forward' }).memory
        const own = this.#points.get(point.nonce) ?? { seq: Number(seq), nonce: String(nonce) }
        this.#points.set(point.nonce, own)
        return {
          ...super.page(filter, { ...window, memory: [own.seq, own.nonce] }),
          memory: window.memory ?? [],
        }
      }
    }
    const hasty: MakeDirectory = monotonic => new Hasty({ publicUrl: '', monotonic })
    const check = fc.check(
      fc.property(course, each => promiseHolds(play(each, hasty))),
      { numRuns: 1000 },
    )
    expect(check.failed).toBe(true)
  })

  test('forward to the end and back to the start give the same rows', () => {
    const directory = directoryOf(Array.from({ length: 57 }, (_, n) => live(n, { viewer_count: n % 5 })))
    for (const first of [1, 7, 100]) {
      const pages: StreamPage[] = []
      let window: Window = { first, direction: 'forward' }
      for (;;) {
        const page = directory.page({}, window)
        pages.push(page)
        const last = page.rows.at(-1)
        if (!page.more || last === undefined) break
        window = { first, direction: 'forward', from: rankKey(last), memory: page.memory }
      }
      const forward = pages.flatMap(page => page.rows.map(row => row.id))
      expect(forward).toHaveLength(57)
      const backward: string[] = []
      let top = pages.at(-1)?.rows[0]
      while (top !== undefined) {
        const page: StreamPage = directory.page({}, { first, direction: 'backward', from: rankKey(top) })
        backward.unshift(...page.rows.map(row => row.id))
        top = page.more ? page.rows[0] : undefined
      }
      expect([...backward, ...(pages.at(-1)?.rows.map(row => row.id) ?? [])]).toEqual(forward)
    }
  })

  test('any filter gives what a plain search gives, forward and back, whatever the page size', () => {
    const some = (names: readonly string[]) =>
      fc.option(fc.array(fc.constantFrom(...names), { maxLength: 3 }), { nil: undefined })
    const row = fc.record({ viewers: fc.nat(4), game: fc.nat(2), language: fc.constantFrom('en', 'de') })
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 40 }),
        some(['0', '1', '2', '9']),
        some(['en', 'de', 'fr']),
        fc.integer({ min: 1, max: 7 }),
        (rows, game_ids, languages, first) => {
          const streams = rows.map((each, n) =>
            live(n, { viewer_count: each.viewers, game_id: String(each.game), language: each.language }),
          )
          const directory = directoryOf(streams)
          const expected = streams
            .filter(({ game_id }) => game_ids?.includes(game_id) ?? true)
            .filter(({ language }) => languages?.includes(language) ?? true)
            .sort((a, b) => b.viewer_count - a.viewer_count || Number(b.id) - Number(a.id))
            .map(stream => stream.id)
          const filter = { game_ids, languages }
          const forward: string[] = []
          let last: StreamPage | undefined
          let window: Window = { first, direction: 'forward' }
          do {
            last = directory.page(filter, window)
            forward.push(...last.rows.map(each => each.id))
            const bottom = last.rows.at(-1)
            if (bottom !== undefined)
              window = { first, direction: 'forward', from: rankKey(bottom), memory: last.memory }
          } while (last.more)
          expect(forward).toEqual(expected)
          const backward = last.rows.map(each => each.id)
          for (let top = last.rows[0]; top !== undefined; ) {
            const page: StreamPage = directory.page(filter, {
              first,
              direction: 'backward',
              from: rankKey(top),
            })
            backward.unshift(...page.rows.map(each => each.id))
            top = page.more ? page.rows[0] : undefined
          }
          expect(backward).toEqual(expected)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('followed channels: a walk over 5,000 of them, most of them not live, while everything moves', () => {
    const world = new World()
    for (let n = 0; n < 400; n++) world.put(n, { viewer_count: n % 7 })
    const [near, far] = [new Node(world, ordinary), new Node(world, ordinary)]
    const followed = Array.from({ length: 5000 }, (_, n) => String(n))
    const channelsIn = (each: Node) => each.directory.keepChannels(followed)
    const channels = new Map([near, far].map(each => [each, channelsIn(each)]))
    const throughout = new Set(world.streams.keys())
    const seen: string[] = []
    let window: Window = { first: 20, direction: 'forward' }
    for (let pages = 0; ; pages++) {
      const each = pages % 2 === 0 ? near : far
      each.follow()
      const page: StreamPage = each.directory.pageOfChannels(channels.get(each) ?? [], window)
      seen.push(...page.rows.map(row => row.id))
      const last = page.rows.at(-1)
      if (!page.more || last === undefined) break
      window = { first: 20, direction: 'forward', from: rankKey(last), memory: page.memory }
      world.end(pages)
      world.put(1000 + pages, { viewer_count: 3 })
      world.watch(Array.from({ length: 400 }, (_, n) => [n, (n * 31 + pages) % 11]))
      for (const id of throughout) if (!world.streams.has(id)) throughout.delete(id)
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect([...throughout].filter(id => !seen.includes(id))).toEqual([])
    expect(throughout.size).toBeGreaterThan(350)
  })

  test('a channel that changes its game is found under the new one, also along a ranking that was sliced before', () => {
    const world = new World()
    for (let n = 0; n < 9; n++) world.put(n, { viewer_count: n, game_id: n < 8 ? '1' : '2' })
    const each = new Node(world, ordinary)
    const first = each.directory.page({ game_ids: ['1'] }, { first: 2, direction: 'forward' })
    expect(first.rows.map(row => row.viewer_count)).toEqual([7, 6])
    world.put(8, { viewer_count: 8, game_id: '1' })
    world.put(0, { viewer_count: 0, game_id: '2' })
    each.follow()
    const rest = each.directory.page(
      { game_ids: ['2', '1'] },
      { first: 20, direction: 'forward', from: [9, '1'], memory: first.memory },
    )
    expect(rest.rows.map(row => row.viewer_count)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('a cursor whose point is forgotten goes on by sort key', () => {
    let now = 0
    const world = new World()
    for (let n = 0; n < 10; n++) world.put(n, { viewer_count: n })
    const each = new Node(world, ordinary, () => now)
    const page = each.directory.page({}, { first: 4, direction: 'forward' })
    const follow = () => {
      now += 4 * 60 * 1000
      world.watch([[0, 50]])
      each.follow()
    }
    follow()
    expect(
      each.directory.knows(pointIn({ first: 1, direction: 'forward', memory: page.memory }) as FeedPoint),
    ).toBe(true)
    follow()
    follow()
    each.directory.page({}, { first: 1, direction: 'forward' })
    expect(
      each.directory.knows(pointIn({ first: 1, direction: 'forward', memory: page.memory }) as FeedPoint),
    ).toBe(false)
    const last = page.rows.at(-1) as RenderedStream
    const next = each.directory.page(
      {},
      { first: 100, direction: 'forward', from: rankKey(last), memory: page.memory },
    )
    expect(next.rows.map(row => JSON.parse(row.json).user_id)).toEqual(['5', '4', '3', '2', '1'])
  })

  test('ids order rows as numbers', () => {
    const directory = directoryOf(['9', '10', '100'].map(id => live(Number(id), { id, user_id: id })))
    expect(directory.page({}, { first: 3, direction: 'forward' }).rows.map(row => row.id)).toEqual([
      '100',
      '10',
      '9',
    ])
  })

  test('a renamed channel is found by its new login only', () => {
    const world = new World()
    world.put(1, {})
    const each = new Node(world, ordinary)
    world.put(1, { user_login: 'renamed' })
    each.follow()
    const find = (login: string) =>
      each.directory.page({ user_logins: [login] }, { first: 5, direction: 'forward' }).rows.length
    expect([find('user1'), find('renamed')]).toEqual([0, 1])
  })
})
