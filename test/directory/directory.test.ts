import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { PageRequest } from '../../src/contract/page.ts'
import { Directory, type StreamFilter } from '../../src/directory/directory.ts'
import type { RenderedStream } from '../../src/directory/row.ts'
import { pointIn, rankKey, type StreamPage } from '../../src/directory/stream-page.ts'
import type { FeedPoint, LiveStream } from '../../src/store/feed.ts'
import { runs } from '../support/properties.ts'
import { Cluster, type Event, event, live, type MakeDirectory, Node, ordinary, World } from './world.ts'

/** A walk that is under way: asks for one page after another as a client does, through the keys of the last page. */
class Walker {
  readonly seen: string[] = []
  readonly #filter: StreamFilter
  readonly #direction: PageRequest['direction']
  #window: PageRequest
  done = false

  constructor(filter: StreamFilter, window: PageRequest = { first: 3, direction: 'forward' }) {
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
    else
      this.#window = { first, direction: this.#direction, from: rankKey(next), cursorState: page.cursorState }
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

interface Course {
  readonly events: readonly Event[]
  readonly games: readonly string[]
  /** Backwards: from the second page of five rows to the top. */
  readonly backward: boolean
}

/** Plays events and returns which streams were live and matching throughout, and what the walker saw. */
function play({ events, games, backward }: Course, make: MakeDirectory) {
  const cluster = new Cluster(make)
  const { world } = cluster

  const filter = games.length > 0 ? { game_ids: games } : {}
  const matches = (id: string) => {
    const stream = world.streams.get(id)
    return stream !== undefined && (games.length === 0 || games.includes(stream.game_id))
  }
  let walker = new Walker(filter)
  let throughout = new Set([...world.streams.keys()].filter(matches))
  if (backward) {
    const top = walker.step(cluster.node(0), 5)
    const second = walker.step(cluster.node(0), 2)
    const [row] = second?.rows ?? []
    if (top === undefined || row === undefined || second === undefined) throw new Error('there are two pages')
    throughout = new Set(top.rows.map(each => each.id))
    walker = new Walker(filter, {
      first: 3,
      direction: 'backward',
      from: rankKey(row),
      cursorState: second.cursorState,
    })
  } else walker.step(cluster.node(0), 2)

  const everLive = new Set(world.streams.keys())
  for (const each of events) {
    if (each.kind === 'step') walker.step(cluster.node(each.node), each.first)
    else cluster.play(each)
    for (const id of world.streams.keys()) everLive.add(id)
    for (const id of throughout) if (!matches(id)) throughout.delete(id)
  }
  for (let steps = 0; !walker.done; steps++) walker.step(cluster.node(steps), 5)
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
      return [
        pointIn({ first: 1, direction: 'forward', cursorState: page.cursorState })?.seq,
        page.rows[0]?.id,
      ]
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

  test('property: a walk shows what is live throughout exactly once, whatever changes and whichever process answers', () => {
    fc.assert(
      fc.property(course, each => promiseHolds(play(each, ordinary))),
      { numRuns: runs(2000) },
    )
  })

  test('property: the test above catches a directory that ranks by current counts', () => {
    class Forgetful extends Directory {
      override page(filter: StreamFilter, { cursorState: _, ...window }: PageRequest): StreamPage {
        return super.page(filter, window)
      }
    }
    const forgetful: MakeDirectory = monotonic => new Forgetful({ publicUrl: '', monotonic })
    const check = fc.check(
      fc.property(course, each => promiseHolds(play(each, forgetful))),
      { numRuns: runs(1000) },
    )
    expect(check.failed).toBe(true)
  })

  test('property: the test above catches processes that each take the moment of arrival for the point of the walk', () => {
    class Hasty extends Directory {
      readonly #points = new Map<string, FeedPoint>()

      override page(filter: StreamFilter, window: PageRequest): StreamPage {
        const point = pointIn(window)
        if (point === undefined) return super.page(filter, window)
        const [seq, nonce] = super.page(filter, { first: 1, direction: 'forward' }).cursorState
        const own = this.#points.get(point.nonce) ?? { seq: Number(seq), nonce: String(nonce) }
        this.#points.set(point.nonce, own)
        return {
          ...super.page(filter, { ...window, cursorState: [own.seq, own.nonce] }),
          cursorState: window.cursorState ?? [],
        }
      }
    }
    const hasty: MakeDirectory = monotonic => new Hasty({ publicUrl: '', monotonic })
    const check = fc.check(
      fc.property(course, each => promiseHolds(play(each, hasty))),
      { numRuns: runs(1000) },
    )
    expect(check.failed).toBe(true)
  })

  test('forward to the end and back to the start give the same rows', () => {
    const directory = directoryOf(Array.from({ length: 57 }, (_, n) => live(n, { viewer_count: n % 5 })))
    for (const first of [1, 7, 100]) {
      const pages: StreamPage[] = []
      let window: PageRequest = { first, direction: 'forward' }
      for (;;) {
        const page = directory.page({}, window)
        pages.push(page)
        const last = page.rows.at(-1)
        if (!page.more || last === undefined) break
        window = { first, direction: 'forward', from: rankKey(last), cursorState: page.cursorState }
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

  test('property: any filter gives what a plain search gives, forward and back, whatever the page size', () => {
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
          let window: PageRequest = { first, direction: 'forward' }
          do {
            last = directory.page(filter, window)
            forward.push(...last.rows.map(each => each.id))
            const bottom = last.rows.at(-1)
            if (bottom !== undefined)
              window = { first, direction: 'forward', from: rankKey(bottom), cursorState: last.cursorState }
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
      { numRuns: runs(500) },
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
    let window: PageRequest = { first: 20, direction: 'forward' }
    for (let pages = 0; ; pages++) {
      const each = pages % 2 === 0 ? near : far
      each.follow()
      const page: StreamPage = each.directory.pageOfChannels(channels.get(each) ?? [], window)
      seen.push(...page.rows.map(row => row.id))
      const last = page.rows.at(-1)
      if (!page.more || last === undefined) break
      window = { first: 20, direction: 'forward', from: rankKey(last), cursorState: page.cursorState }
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
      { first: 20, direction: 'forward', from: [9, '1'], cursorState: first.cursorState },
    )
    expect(rest.rows.map(row => row.viewer_count)).toEqual([8, 7, 6, 5, 4, 3, 2, 1, 0])
  })

  test('a cursor whose point is forgotten continues by sort key', () => {
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
      each.directory.knows(
        pointIn({ first: 1, direction: 'forward', cursorState: page.cursorState }) as FeedPoint,
      ),
    ).toBe(true)
    follow()
    follow()
    each.directory.page({}, { first: 1, direction: 'forward' })
    expect(
      each.directory.knows(
        pointIn({ first: 1, direction: 'forward', cursorState: page.cursorState }) as FeedPoint,
      ),
    ).toBe(false)
    const last = page.rows.at(-1) as RenderedStream
    const next = each.directory.page(
      {},
      { first: 100, direction: 'forward', from: rankKey(last), cursorState: page.cursorState },
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
