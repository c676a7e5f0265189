/**
 * A ranking: all rows sorted by the viewer counts at one point of the feed, most viewers first, and walks along it. A place
 * is an index into it. A slice is the list of places of one game, one language, or both; slices are created when first
 * needed, for all games or all languages at once.
 */
import type { Rank } from '../domain/ranking.ts'
import { compareDecimal } from '../kit/decimal.ts'
import type { LiveRow } from './row.ts'

/** Places in the order of the ranking. */
type Slice = Int32Array | readonly number[]

export interface Ranking {
  readonly rows: readonly LiveRow[]
  /** Viewer counts at the ranking's point, by `LiveRow.index`. */
  readonly counts: Int32Array
  byGame: Slices | undefined
  byLanguage: Slices | undefined
  /** The slices of one game by language, for games that were filtered by language. */
  readonly byBoth: Map<number, ReadonlyMap<number, readonly number[]>>
  /** Places of rows whose game or language has changed since slices were created, ascending. */
  readonly moved: number[]
}

/** All places, grouped by number: the slice of a number is a part of one array. */
interface Slices {
  readonly places: Int32Array
  readonly starts: Int32Array
}

/** More rows than a ranking can have. The product with a viewer count below 2^31 is still an exact integer in a double. */
const SPAN = 2 ** 22
const MAX_EXACT = Number.MAX_SAFE_INTEGER / SPAN

export function makeRanking(inIdOrder: readonly LiveRow[], counts: Int32Array): Ranking {
  const rows = largestFirst(inIdOrder, row => counts[row.index] as number)
  return { rows, counts, byGame: undefined, byLanguage: undefined, byBoth: new Map(), moved: [] }
}

/**
 * The larger count first, then the larger id. Sorts one number per element, which the runtime does natively: the count, then
 * the position in id order. Only the totals of games can be too large for that.
 */
export function largestFirst<T>(inIdOrder: readonly T[], countOf: (element: T) => number): T[] {
  const size = inIdOrder.length
  const keys = new Float64Array(size)
  let largest = 0
  for (let place = 0; place < size; place++) {
    const count = countOf(inIdOrder[place] as T)
    if (count > largest) largest = count
    keys[place] = count * SPAN + place
  }
  if (largest >= MAX_EXACT) return inIdOrder.toReversed().sort((a, b) => countOf(b) - countOf(a))
  keys.sort()
  const sorted: T[] = new Array(size)
  for (let place = 0; place < size; place++) {
    sorted[place] = inIdOrder[(keys[size - 1 - place] as number) % SPAN] as T
  }
  return sorted
}

/** A filter by the numbers of games and languages. A name without a number matches no row and is omitted. */
export interface SliceFilter {
  readonly games: readonly number[] | undefined
  readonly languages: readonly number[] | undefined
}

/** The slices that together contain every match; undefined without a filter. */
export function findSlices(
  ranking: Ranking,
  { games, languages }: SliceFilter,
): readonly Slice[] | undefined {
  if (games === undefined && languages === undefined) return undefined
  const slices: Slice[] = []
  if (games === undefined) {
    ranking.byLanguage ??= sliceBy(ranking, row => row.language)
    for (const language of languages ?? []) slices.push(sliceAt(ranking.byLanguage, language))
  } else {
    ranking.byGame ??= sliceBy(ranking, row => row.game)
    for (const game of games) {
      const slice = sliceAt(ranking.byGame, game)
      if (languages === undefined) slices.push(slice)
      else {
        const byLanguage = sliceByLanguage(ranking, game, slice)
        for (const language of languages) slices.push(byLanguage.get(language) ?? [])
      }
    }
  }
  if (ranking.moved.length > 0) slices.push(ranking.moved)
  return slices.filter(slice => slice.length > 0)
}

/** A counting sort: count the rows of each number, then put each place into its group. */
function sliceBy({ rows }: Ranking, numberOf: (row: LiveRow) => number): Slices {
  const numbers = new Int32Array(rows.length)
  let largest = -1
  for (let place = 0; place < rows.length; place++) {
    const number = numberOf(rows[place] as LiveRow)
    numbers[place] = number
    if (number > largest) largest = number
  }
  const starts = new Int32Array(largest + 2)
  for (const number of numbers) starts[number + 1] = (starts[number + 1] as number) + 1
  for (let number = 0; number <= largest; number++) {
    starts[number + 1] = (starts[number + 1] as number) + (starts[number] as number)
  }
  const next = starts.slice()
  const places = new Int32Array(rows.length)
  for (let place = 0; place < rows.length; place++) {
    const number = numbers[place] as number
    const at = next[number] as number
    places[at] = place
    next[number] = at + 1
  }
  return { places, starts }
}

function sliceAt({ places, starts }: Slices, number: number): Int32Array {
  return places.subarray(starts[number] ?? places.length, starts[number + 1] ?? places.length)
}

function sliceByLanguage({ rows, byBoth }: Ranking, game: number, slice: Int32Array) {
  const known = byBoth.get(game)
  if (known !== undefined) return known
  const byLanguage = Map.groupBy(slice, place => (rows[place] as LiveRow).language)
  byBoth.set(game, byLanguage)
  return byLanguage
}

/** Called when the game or language of a row has changed, so that filters find it in existing slices too. */
export function noteMoved(ranking: Ranking, row: LiveRow): void {
  if (ranking.byGame === undefined && ranking.byLanguage === undefined) return
  // A row that is newer than the ranking has no count in it and is not found.
  const rank = { viewer_count: ranking.counts[row.index] ?? 0, id: row.id }
  const place = startIn(ranking, ranking.rows.length, index => index, rank, true) - 1
  if (ranking.rows[place] !== row || ranking.moved.includes(place)) return
  const next = ranking.moved.findIndex(each => each > place)
  ranking.moved.splice(next < 0 ? ranking.moved.length : next, 0, place)
}

/** Returns a function that returns the next place after `from` in this direction, and -1 at the end. Merges slices. */
export function walkAlong(
  ranking: Ranking,
  slices: readonly Slice[] | undefined,
  from: Rank | undefined,
  forward: boolean,
): () => number {
  if (slices === undefined) return walkAll(ranking, from, forward)
  const heads = slices.map(slice =>
    startIn(ranking, slice.length, index => slice[index] as number, from, forward),
  )
  const step = forward ? 1 : -1
  return () => {
    let nearest = -1
    for (let each = 0; each < slices.length; each++) {
      const place = slices[each]?.[heads[each] as number]
      if (place === undefined) continue
      if (nearest < 0 || (forward ? place < nearest : place > nearest)) nearest = place
    }
    // A moved row may be in two slices: it is returned once.
    for (let each = 0; each < slices.length; each++) {
      const head = heads[each] as number
      if (slices[each]?.[head] === nearest) heads[each] = head + step
    }
    return nearest
  }
}

function walkAll(ranking: Ranking, from: Rank | undefined, forward: boolean): () => number {
  const size = ranking.rows.length
  let place = startIn(ranking, size, index => index, from, forward)
  return () => {
    if (place < 0 || place >= size) return -1
    const here = place
    place += forward ? 1 : -1
    return here
  }
}

/** The first index after `from` (forward), or the last one before it, by binary search in the order of ranks. */
function startIn(
  ranking: Ranking,
  length: number,
  placeAt: (index: number) => number,
  from: Rank | undefined,
  forward: boolean,
): number {
  return startAmong(length, from, forward, ({ viewer_count, id }, place) => {
    const row = ranking.rows[placeAt(place)] as LiveRow
    return viewer_count - (ranking.counts[row.index] as number) || compareDecimal(id, row.id)
  })
}

/** The same for anything in the order of ranks. `order` is negative if the element at an index comes before a rank. */
export function startAmong(
  length: number,
  from: Rank | undefined,
  forward: boolean,
  order: (from: Rank, index: number) => number,
): number {
  if (from === undefined) return forward ? 0 : length - 1
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = order(from, middle)
    if (found < 0 || (forward && found === 0)) low = middle + 1
    else high = middle
  }
  return forward ? low : low - 1
}
