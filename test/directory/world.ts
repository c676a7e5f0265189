/** A world of live streams as the store has it, and processes that follow it, for tests of the directory. */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { Directory } from '../../src/directory/directory.ts'
import type { Change, FeedEntry, FeedPoint, LiveStream } from '../../src/store/feed.ts'

export function live(n: number, changes: Partial<LiveStream> = {}): LiveStream {
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

export type MakeDirectory = (monotonic: () => number) => Directory

export const ordinary: MakeDirectory = monotonic => new Directory({ publicUrl: '', monotonic })

/** What the store is to processes that follow it: the truth, and the feed that leads to it. */
export class World {
  readonly streams = new Map<string, LiveStream>()
  readonly feed: FeedEntry[] = []
  #starts = 0

  get head(): FeedPoint {
    return this.feed.at(-1) ?? { seq: 0, nonce: '' }
  }

  /** Goes live under a new id, or, if live already, is reported again. */
  put(n: number, changes: Partial<LiveStream>): void {
    const running = this.of(n)
    this.#starts += 1
    const id = running?.id ?? String(1000 * this.#starts + n)
    const stream = live(n, { ...running, id, ...changes })
    this.streams.set(stream.id, stream)
    this.#publish({
      kind: 'stream',
      stream,
      was: running?.viewer_count ?? null,
      was_game_id: running?.game_id ?? stream.game_id,
    })
  }

  end(n: number): void {
    const running = this.of(n)
    if (running === undefined) return
    this.streams.delete(running.id)
    const { user_id, id: stream_id, game_id, viewer_count } = running
    this.#publish({ kind: 'end', user_id, stream_id, game_id, viewer_count })
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

/** A process that follows the world, at its pace. */
export class Node {
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

  /** Starts at a point so many entries ago, though it reads the streams of now: entries commit while it reads. */
  restart(entries = 0): Directory {
    const { feed, streams } = this.#world
    this.#applied = Math.max(0, feed.length - entries)
    const point = feed[this.#applied - 1] ?? { seq: 0, nonce: '' }
    const since = feed.slice(this.#applied)
    this.directory = this.#make(this.#monotonic)
    this.directory.reload([...streams.values()], point)
    this.follow()
    this.directory.retrace(point, since)
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

export type Event =
  | { kind: 'put'; n: number; viewers: number; game: number }
  | { kind: 'end'; n: number }
  | { kind: 'viewers'; counts: [number, number][] }
  | { kind: 'step'; first: number; node: number }
  | { kind: 'follow'; node: number; entries: number }
  | { kind: 'restart'; node: number; entries: number }
  | { kind: 'wait'; milliseconds: number }

const NODES = 3
const who = fc.nat(29)
const viewers = fc.nat(6)
const node = fc.nat(NODES - 1)
export const event: fc.Arbitrary<Event> = fc.oneof(
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
  fc.record({ kind: fc.constant('restart' as const), node, entries: fc.nat(6) }),
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 5000 }) }),
)

/** Processes that follow one world, and the clock that they share. */
export class Cluster {
  readonly world = new World()
  readonly #nodes: readonly Node[]
  #now = 0

  /** Twenty streams of three games are live, and the first process knows them. */
  constructor(make: MakeDirectory) {
    this.#nodes = Array.from({ length: NODES }, () => new Node(this.world, make, () => this.#now))
    for (let n = 0; n < 20; n++) this.world.put(n, { viewer_count: n % 4, game_id: String(n % 3) })
    this.node(0).follow()
  }

  node(index: number): Node {
    return this.#nodes[index % NODES] as Node
  }

  play(event: Exclude<Event, { kind: 'step' }>): void {
    if (event.kind === 'put')
      this.world.put(event.n, { viewer_count: event.viewers, game_id: String(event.game) })
    else if (event.kind === 'end') this.world.end(event.n)
    else if (event.kind === 'viewers') this.world.watch(event.counts)
    else if (event.kind === 'wait') this.#now += event.milliseconds
    else if (event.kind === 'follow') this.node(event.node).follow(event.entries)
    else this.node(event.node).restart(event.entries)
  }
}
