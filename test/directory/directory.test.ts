import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Window } from '../../src/contract/page.ts'
import {
  Directory,
  type ShownStream,
  type StreamFilter,
  type StreamPage,
  streamKey,
} from '../../src/directory/directory.ts'
import type { LiveStream } from '../../src/store/feed.ts'

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

/** A walk that is under way: asks for one page after another as a client does, through the keys of the last page. */
class Walker {
  readonly seen: string[] = []
  readonly #directory: Directory
  readonly #filter: StreamFilter
  #window: Window
  done = false

  constructor(directory: Directory, filter: StreamFilter, first: number) {
    this.#directory = directory
    this.#filter = filter
    this.#window = { first, direction: 'forward' }
  }

  step(first: number): void {
    if (this.done) return
    const page: StreamPage = this.#directory.page(this.#filter, { ...this.#window, first })
    expect(page.rows.length).toBeLessThanOrEqual(first)
    expectOrder(page.rows)
    this.seen.push(...page.rows.map(row => row.id))
    const last = page.rows.at(-1)
    if (!page.more || last === undefined) this.done = true
    else this.#window = { first, direction: 'forward', from: streamKey(last), memory: page.memory }
  }
}

function expectOrder(rows: readonly ShownStream[]): void {
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
  | { kind: 'step'; first: number }
  | { kind: 'wait'; milliseconds: number }

const who = fc.nat(29)
const viewers = fc.nat(6)
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), n: who, viewers, game: fc.nat(1) }),
  fc.record({ kind: fc.constant('end' as const), n: who }),
  fc.record({
    kind: fc.constant('viewers' as const),
    counts: fc.array(fc.tuple(who, viewers), { maxLength: 30 }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('step' as const), first: fc.integer({ min: 1, max: 6 }) }),
  },
  fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 20_000 }) }),
)

/** Plays events and says which streams were live and matching throughout, and what the walker saw. */
function play(
  events: readonly Event[],
  filterGame: boolean,
  makeDirectory: (clock: () => number) => Directory,
) {
  let now = 0
  const directory = makeDirectory(() => now)
  const state = new Map<number, { game: string }>()
  for (let n = 0; n < 15; n++) {
    directory.apply({ kind: 'stream', stream: live(n, { viewer_count: n % 4, game_id: String(n % 2) }) })
    state.set(n, { game: String(n % 2) })
  }
  const matches = (n: number) => state.has(n) && (!filterGame || state.get(n)?.game === '0')
  const walker = new Walker(directory, filterGame ? { game_ids: ['0'] } : {}, 3)
  const throughout = new Set([...state.keys()].filter(matches))
  const everLive = new Set(state.keys())
  const settle = () => {
    for (const n of throughout) if (!matches(n)) throughout.delete(n)
  }
  walker.step(2)
  for (const each of events) {
    if (each.kind === 'put') {
      directory.apply({
        kind: 'stream',
        stream: live(each.n, { viewer_count: each.viewers, game_id: String(each.game) }),
      })
      state.set(each.n, { game: String(each.game) })
      everLive.add(each.n)
    } else if (each.kind === 'end') {
      directory.apply({ kind: 'end', user_id: String(each.n), stream_id: String(1000 + each.n) })
      state.delete(each.n)
    } else if (each.kind === 'viewers') {
      directory.apply({ kind: 'viewers', counts: each.counts.map(([n, count]) => [String(1000 + n), count]) })
    } else if (each.kind === 'wait') now += each.milliseconds
    else walker.step(each.first)
    settle()
  }
  while (!walker.done) walker.step(5)
  return { seen: walker.seen, throughout, everLive }
}

function promiseHolds({ seen, throughout, everLive }: ReturnType<typeof play>): boolean {
  const ids = new Set(seen)
  return (
    ids.size === seen.length &&
    [...throughout].every(n => ids.has(String(1000 + n))) &&
    seen.every(id => everLive.has(Number(id) - 1000))
  )
}

const events = fc.array(event, { maxLength: 60 })

describe('the directory', () => {
  test('a walk shows what is live throughout exactly once, whatever changes meanwhile', () => {
    fc.assert(
      fc.property(events, fc.boolean(), (each, filterGame) => {
        expect(
          promiseHolds(play(each, filterGame, monotonic => new Directory({ publicUrl: '', monotonic }))),
        ).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('the test above catches a directory that ranks by current counts', () => {
    class Forgetful extends Directory {
      override page(filter: StreamFilter, { memory: _, ...window }: Window): StreamPage {
        return super.page(filter, window)
      }
    }
    const check = fc.check(
      fc.property(events, fc.boolean(), (each, filterGame) =>
        promiseHolds(play(each, filterGame, monotonic => new Forgetful({ publicUrl: '', monotonic }))),
      ),
      { numRuns: 1000 },
    )
    expect(check.failed).toBe(true)
  })

  test('forward to the end and back to the start give the same rows', () => {
    const directory = new Directory({ publicUrl: '' })
    for (let n = 0; n < 57; n++) directory.apply({ kind: 'stream', stream: live(n, { viewer_count: n % 5 }) })
    for (const first of [1, 7, 100]) {
      const pages: StreamPage[] = []
      let window: Window = { first, direction: 'forward' }
      for (;;) {
        const page = directory.page({}, window)
        pages.push(page)
        const last = page.rows.at(-1)
        if (!page.more || last === undefined) break
        window = { first, direction: 'forward', from: streamKey(last), memory: page.memory }
      }
      const forward = pages.flatMap(page => page.rows.map(row => row.id))
      expect(forward).toHaveLength(57)
      const backward: string[] = []
      let top = pages.at(-1)?.rows[0]
      while (top !== undefined) {
        const page: StreamPage = directory.page({}, { first, direction: 'backward', from: streamKey(top) })
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
          const directory = new Directory({ publicUrl: '' })
          const streams = rows.map((each, n) =>
            live(n, { viewer_count: each.viewers, game_id: String(each.game), language: each.language }),
          )
          for (const stream of streams) directory.apply({ kind: 'stream', stream })
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
              window = { first, direction: 'forward', from: streamKey(bottom), memory: last.memory }
          } while (last.more)
          expect(forward).toEqual(expected)
          const backward = last.rows.map(each => each.id)
          for (let top = last.rows[0]; top !== undefined; ) {
            const page: StreamPage = directory.page(filter, {
              first,
              direction: 'backward',
              from: streamKey(top),
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

  test('a cursor whose ranking is gone goes on by sort key', () => {
    let now = 0
    const directory = new Directory({ publicUrl: '', monotonic: () => now })
    for (let n = 0; n < 10; n++) directory.apply({ kind: 'stream', stream: live(n, { viewer_count: n }) })
    const page = directory.page({}, { first: 4, direction: 'forward' })
    now += 6 * 60 * 1000
    directory.apply({ kind: 'viewers', counts: [['1000', 50]] })
    directory.page({}, { first: 1, direction: 'forward' })
    const last = page.rows.at(-1) as ShownStream
    const next = directory.page(
      {},
      { first: 100, direction: 'forward', from: streamKey(last), memory: page.memory },
    )
    expect(next.rows.map(row => JSON.parse(row.json).user_id)).toEqual(['5', '4', '3', '2', '1'])
  })

  test('ids order rows as numbers', () => {
    const directory = new Directory({ publicUrl: '' })
    for (const id of ['9', '10', '100']) {
      directory.apply({ kind: 'stream', stream: live(Number(id), { id, user_id: id }) })
    }
    expect(directory.page({}, { first: 3, direction: 'forward' }).rows.map(row => row.id)).toEqual([
      '100',
      '10',
      '9',
    ])
  })

  test('a renamed channel is found by its new login only', () => {
    const directory = new Directory({ publicUrl: '' })
    directory.apply({ kind: 'stream', stream: live(1) })
    directory.apply({ kind: 'stream', stream: live(1, { user_login: 'renamed' }) })
    const find = (login: string) =>
      directory.page({ user_logins: [login] }, { first: 5, direction: 'forward' }).rows.length
    expect([find('user1'), find('renamed')]).toEqual([0, 1])
  })
})
