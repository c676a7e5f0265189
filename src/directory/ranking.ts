/**
 * A ranking: all streams in the order of one point of the feed, most viewers first, and the ways to walk along it. Places
 * are counted from the top. A slice is the list of places of one game, one language, or both; slices are made when first
 * asked for, in one pass for all games at once.
 */
import { compareRank, type Rank } from '../domain/ranking.ts'
import type { LiveStream } from '../store/feed.ts'

/** A stream's place in memory: it outlives changes of the stream, and rankings point to it. */
export interface Slot {
  /** Where the stream's viewer count stands among all counts. */
  readonly index: number
  /** The feed's number of the entry that told of its start; 0 if it was live before what is remembered. */
  since: number
  stream: LiveStream
  live: boolean
  /** The row as JSON around its viewer count, and whole for one count; made when first shown. */
  text: { readonly head: string; readonly tail: string; count: number; whole: string } | undefined
}

type Slices = Map<string, number[]>
type NameOf = (stream: Pick<LiveStream, 'game_id' | 'language'>) => string

const WAYS_TO_SLICE = {
  byGame: stream => stream.game_id,
  byLanguage: stream => stream.language,
  byBoth: stream => `${stream.game_id} ${stream.language}`,
} satisfies Record<string, NameOf>

export interface Ranking {
  readonly slots: readonly Slot[]
  /** Viewer counts at the ranking's point, by the index of the slot. */
  readonly counts: Int32Array
  readonly slices: { [Way in keyof typeof WAYS_TO_SLICE]?: Slices }
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
  return { slots, counts, slices: {} }
}

/** The slices that a filter asks for; undefined if it asks for everything. */
export function sliceOf(
  ranking: Ranking,
  filter: {
    readonly game_ids?: readonly string[] | undefined
    readonly languages?: readonly string[] | undefined
  },
): readonly (readonly number[])[] | undefined {
  const games = filter.game_ids && [...new Set(filter.game_ids)]
  const languages = filter.languages && [...new Set(filter.languages)]
  if (games !== undefined && languages !== undefined) {
    const slices = slicesOf(ranking, 'byBoth')
    return games.flatMap(game_id =>
      languages.flatMap(language => found(slices, WAYS_TO_SLICE.byBoth({ game_id, language }))),
    )
  }
  if (games !== undefined) return games.flatMap(game_id => found(slicesOf(ranking, 'byGame'), game_id))
  if (languages === undefined) return undefined
  return languages.flatMap(language => found(slicesOf(ranking, 'byLanguage'), language))
}

function found(slices: Slices, name: string): (readonly number[])[] {
  const slice = slices.get(name)
  return slice === undefined ? [] : [slice]
}

/** Made when first asked for, so it tells what streams play at that moment: that is what walks ask for. */
function slicesOf(ranking: Ranking, way: keyof typeof WAYS_TO_SLICE): Slices {
  const known = ranking.slices[way]
  if (known !== undefined) return known
  const nameOf: NameOf = WAYS_TO_SLICE[way]
  const slices: Slices = new Map()
  for (let place = 0; place < ranking.slots.length; place++) {
    const name = nameOf((ranking.slots[place] as Slot).stream)
    const slice = slices.get(name)
    if (slice === undefined) slices.set(name, [place])
    else slice.push(place)
  }
  ranking.slices[way] = slices
  return slices
}

/** A stream plays something else now: whoever asks for that finds it, also along rankings that were sliced before. */
export function sliceAnew(ranking: Ranking, slot: Slot): void {
  const ways = Object.keys(ranking.slices) as (keyof typeof WAYS_TO_SLICE)[]
  if (ways.length === 0) return
  const place = startIn(ranking, ranking.slots.length, index => index, rankOf(ranking, slot), true) - 1
  if (ranking.slots[place] !== slot) return
  for (const way of ways) {
    const slices = slicesOf(ranking, way)
    const name = WAYS_TO_SLICE[way](slot.stream)
    const slice = slices.get(name)
    if (slice === undefined) slices.set(name, [place])
    else if (!slice.includes(place)) {
      const behind = slice.findIndex(each => each > place)
      slice.splice(behind < 0 ? slice.length : behind, 0, place)
    }
  }
}

/** Gives one place after another, away from `from`, and -1 at the end. Several slices are merged as they are walked. */
export function walkAlong(
  ranking: Ranking,
  slices: readonly (readonly number[])[] | undefined,
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
    // A stream that changed its game stands in the slices of both: it is given once.
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

function rankOf({ counts }: Ranking, { index, stream }: Slot): Rank {
  return { viewer_count: counts[index] ?? 0, id: stream.id }
}

/** The first index behind `from` (forward), or the last one in front of it, by binary search. */
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
    const order = compareRank(rankOf(ranking, ranking.slots[placeAt(middle)] as Slot), from)
    if (order < 0 || (forward && order === 0)) low = middle + 1
    else high = middle
  }
  return forward ? low : low - 1
}
