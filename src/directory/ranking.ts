/**
 * A ranking: all streams in the order of one point of the feed, most viewers first, and the ways to walk along it. Places
 * are counted from the top. A slice is the list of places of one game, one language, or both; slices are made when first
 * asked for, for all games or all languages at once.
 */
import type { Rank } from '../domain/ranking.ts'
import { compareDecimal } from '../kit/decimal.ts'

/**
 * A stream's place in memory: it outlives changes of the stream, and rankings point to it. Of the stream itself only what
 * is looked at stands here, and the rest as text: a hundred thousand objects of fourteen fields keep the garbage collector busy.
 */
export interface Slot {
  readonly id: string
  readonly user_id: string
  /** Where the stream's viewer count stands among all counts. */
  readonly index: number
  /** The feed's number of the entry that told of its start; 0 if it was live before what is remembered. */
  since: number
  login: string
  /** The numbers that stand for its game and its language. */
  game: number
  language: number
  live: boolean
  /** The row as JSON with a nought for its viewer count, and where that stands. */
  text: string
  gap: number
  /** The whole row as it was shown last, and with which count. */
  shown: string
  shownCount: number
}

/** A row of a page: where it stands, and its text. */
export interface ShownStream extends Rank {
  readonly json: string
}

/** Places in the order of the ranking. */
type Slice = Int32Array | readonly number[]

export interface Ranking {
  readonly slots: readonly Slot[]
  /** Viewer counts at the ranking's point, by the index of the slot. */
  readonly counts: Int32Array
  byGame: Slices | undefined
  byLanguage: Slices | undefined
  /** The slices of one game by language, for games that were asked for so. */
  readonly byBoth: Map<number, ReadonlyMap<number, readonly number[]>>
  /** Places of streams that play something else, or speak otherwise, than when slices were made. */
  readonly strays: number[]
}

/** All places, those with the same number together: the slice of a number is a part of one array. */
interface Slices {
  readonly places: Int32Array
  readonly starts: Int32Array
}

/** More slots than one ranking can have. A viewer count below 2^31 times this is still a whole number to a double. */
const SPAN = 2 ** 22

/**
 * Sorts by one number per stream, which the runtime does natively: the viewer count, and below it the place in id order.
 */
export function makeRanking(inIdOrder: readonly Slot[], counts: Int32Array): Ranking {
  const size = inIdOrder.length
  const keys = new Float64Array(size)
  for (let place = 0; place < size; place++) {
    keys[place] = (counts[inIdOrder[place]?.index ?? 0] ?? 0) * SPAN + place
  }
  keys.sort()
  const slots: Slot[] = new Array(size)
  for (let place = 0; place < size; place++) {
    slots[place] = inIdOrder[(keys[size - 1 - place] ?? 0) % SPAN] as Slot
  }
  return { slots, counts, byGame: undefined, byLanguage: undefined, byBoth: new Map(), strays: [] }
}

/** A filter in numbers; a game or language that nobody plays or speaks has none and is left out. */
export interface SliceFilter {
  readonly games: readonly number[] | undefined
  readonly languages: readonly number[] | undefined
}

/** The slices that together hold all that the filter asks for; undefined if it asks for everything. */
export function sliceOf(ranking: Ranking, { games, languages }: SliceFilter): readonly Slice[] | undefined {
  if (games === undefined && languages === undefined) return undefined
  const slices: Slice[] = []
  if (games === undefined) {
    ranking.byLanguage ??= sliceBy(ranking, slot => slot.language)
    for (const language of languages ?? []) slices.push(sliceAt(ranking.byLanguage, language))
  } else {
    ranking.byGame ??= sliceBy(ranking, slot => slot.game)
    for (const game of games) {
      const slice = sliceAt(ranking.byGame, game)
      if (languages === undefined) slices.push(slice)
      else {
        const spoken = byLanguageOf(ranking, game, slice)
        for (const language of languages) slices.push(spoken.get(language) ?? [])
      }
    }
  }
  if (ranking.strays.length > 0) slices.push(ranking.strays)
  return slices.filter(slice => slice.length > 0)
}

/** Made when first asked for, in two passes: how many of each, then each to its place. */
function sliceBy({ slots }: Ranking, numberOf: (slot: Slot) => number): Slices {
  const numbers = new Int32Array(slots.length)
  let largest = -1
  for (let place = 0; place < slots.length; place++) {
    const number = numberOf(slots[place] as Slot)
    numbers[place] = number
    if (number > largest) largest = number
  }
  const starts = new Int32Array(largest + 2)
  for (const number of numbers) starts[number + 1] = (starts[number + 1] ?? 0) + 1
  for (let number = 0; number <= largest; number++) {
    starts[number + 1] = (starts[number + 1] ?? 0) + (starts[number] ?? 0)
  }
  const next = starts.slice()
  const places = new Int32Array(slots.length)
  for (let place = 0; place < slots.length; place++) {
    const number = numbers[place] ?? 0
    const at = next[number] ?? 0
    places[at] = place
    next[number] = at + 1
  }
  return { places, starts }
}

function sliceAt({ places, starts }: Slices, number: number): Int32Array {
  return places.subarray(starts[number] ?? places.length, starts[number + 1] ?? places.length)
}

function byLanguageOf({ slots, byBoth }: Ranking, game: number, slice: Int32Array) {
  const known = byBoth.get(game)
  if (known !== undefined) return known
  const spoken = Map.groupBy(slice, place => (slots[place] as Slot).language)
  byBoth.set(game, spoken)
  return spoken
}

/** A stream plays something else now: whoever asks for that finds it, also along rankings that were sliced before. */
export function noteStray(ranking: Ranking, slot: Slot): void {
  if (ranking.byGame === undefined && ranking.byLanguage === undefined) return
  const place = startIn(ranking, ranking.slots.length, index => index, rankOf(ranking, slot), true) - 1
  if (ranking.slots[place] !== slot || ranking.strays.includes(place)) return
  const behind = ranking.strays.findIndex(each => each > place)
  ranking.strays.splice(behind < 0 ? ranking.strays.length : behind, 0, place)
}

/** Gives one place after another, away from `from`, and -1 at the end. Several slices are merged as they are walked. */
export function walkAlong(
  ranking: Ranking,
  slices: readonly Slice[] | undefined,
  from: Rank | undefined,
  forward: boolean,
): () => number {
  if (slices === undefined) return walkAll(ranking, from, forward)
  const heads = slices.map(slice => startIn(ranking, slice.length, index => slice[index] ?? 0, from, forward))
  const step = forward ? 1 : -1
  return () => {
    let nearest = -1
    for (let each = 0; each < slices.length; each++) {
      const place = slices[each]?.[heads[each] ?? 0]
      if (place === undefined) continue
      if (nearest < 0 || (forward ? place < nearest : place > nearest)) nearest = place
    }
    // A stray stands in two slices: it is given once.
    for (let each = 0; each < slices.length; each++) {
      if (slices[each]?.[heads[each] ?? 0] === nearest) heads[each] = (heads[each] ?? 0) + step
    }
    return nearest
  }
}

function walkAll(ranking: Ranking, from: Rank | undefined, forward: boolean): () => number {
  const size = ranking.slots.length
  let place = startIn(ranking, size, index => index, from, forward)
  return () => {
    if (place < 0 || place >= size) return -1
    const here = place
    place += forward ? 1 : -1
    return here
  }
}

function rankOf({ counts }: Ranking, { index, id }: Slot): Rank {
  return { viewer_count: counts[index] ?? 0, id }
}

/** The first index behind `from` (forward), or the last one in front of it, by binary search in the order of ranks. */
function startIn(
  ranking: Ranking,
  length: number,
  placeAt: (index: number) => number,
  from: Rank | undefined,
  forward: boolean,
): number {
  if (from === undefined) return forward ? 0 : length - 1
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    const { index, id } = ranking.slots[placeAt(middle)] as Slot
    const order = from.viewer_count - (ranking.counts[index] ?? 0) || compareDecimal(from.id, id)
    if (order < 0 || (forward && order === 0)) low = middle + 1
    else high = middle
  }
  return forward ? low : low - 1
}
