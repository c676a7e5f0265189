/**
 * A ranking: all streams in the order of one moment, most viewers first, and the ways to walk along it. Places are counted
 * from the top. A slice is the list of places of one game, one language, or both; slices are made when first asked for, in
 * one pass for all games at once.
 */
import { compareRank, type Rank } from '../domain/ranking.ts'
import type { LiveStream } from '../store/feed.ts'

/** A stream's place in memory: it outlives changes of the stream, and rankings point to it. */
export interface Slot {
  stream: LiveStream
  viewers: number
  live: boolean
  /** The row as JSON around its viewer count; made when first shown. */
  text: { readonly head: string; readonly tail: string } | undefined
}

type Slices = ReadonlyMap<string, readonly number[]>

export interface Ranking {
  readonly name: string
  readonly slots: readonly Slot[]
  readonly counts: Int32Array
  usedAt: number
  byGame?: Slices
  byLanguage?: Slices
  byGameAndLanguage?: Slices
}

/** More slots than one ranking can have. A viewer count below 2^31 times this is still a whole number to a double. */
const SPAN = 2 ** 22

/**
 * Sorts by one number per stream, which the runtime does natively: the viewer count, and below it the place in id order.
 */
export function makeRanking(name: string, inIdOrder: readonly Slot[], now: number): Ranking {
  const size = inIdOrder.length
  const keys = new Float64Array(size)
  for (let index = 0; index < size; index++) keys[index] = (inIdOrder[index]?.viewers ?? 0) * SPAN + index
  keys.sort()
  const slots: Slot[] = []
  const counts = new Int32Array(size)
  for (let place = 0; place < size; place++) {
    const key = keys[size - 1 - place] ?? 0
    const viewers = Math.floor(key / SPAN)
    counts[place] = viewers
    slots.push(inIdOrder[key - viewers * SPAN] as Slot)
  }
  return { name, slots, counts, usedAt: now }
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
    ranking.byGameAndLanguage ??= slicesBy(ranking, both)
    const { byGameAndLanguage } = ranking
    return games.flatMap(game_id =>
      languages.flatMap(language => found(byGameAndLanguage, both({ game_id, language }))),
    )
  }
  if (games !== undefined) {
    ranking.byGame ??= slicesBy(ranking, stream => stream.game_id)
    const { byGame } = ranking
    return games.flatMap(game_id => found(byGame, game_id))
  }
  if (languages === undefined) return undefined
  ranking.byLanguage ??= slicesBy(ranking, stream => stream.language)
  const { byLanguage } = ranking
  return languages.flatMap(language => found(byLanguage, language))
}

const both = ({ game_id, language }: Pick<LiveStream, 'game_id' | 'language'>) => `${game_id} ${language}`

function found(slices: Slices, name: string): (readonly number[])[] {
  const slice = slices.get(name)
  return slice === undefined ? [] : [slice]
}

/** Made later than the ranking itself, so it tells what streams play at this moment: that is what walks ask for. */
function slicesBy(ranking: Ranking, nameOf: (stream: LiveStream) => string): Slices {
  const slices = new Map<string, number[]>()
  for (const [place, { stream }] of ranking.slots.entries()) {
    const name = nameOf(stream)
    const slice = slices.get(name)
    if (slice === undefined) slices.set(name, [place])
    else slice.push(place)
  }
  return slices
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
    let chosen = -1
    for (let each = 0; each < slices.length; each++) {
      const place = slices[each]?.[heads[each] ?? 0]
      if (place === undefined) continue
      if (chosen < 0 || (forward ? place < nearest : place > nearest)) {
        nearest = place
        chosen = each
      }
    }
    if (chosen >= 0) heads[chosen] = (heads[chosen] ?? 0) + step
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
    const place = placeAt(middle)
    const rank = { viewer_count: ranking.counts[place] ?? 0, id: ranking.slots[place]?.stream.id ?? '' }
    const order = compareRank(rank, from)
    if (order < 0 || (forward && order === 0)) low = middle + 1
    else high = middle
  }
  return forward ? low : low - 1
}
