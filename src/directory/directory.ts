/**
 * The live directory: every live stream in memory, in the order in which GetStreams shows them.
 *
 * Viewer counts move all the time, so a walk through the pages needs a fixed order to walk along. That is a ranking:
 * all streams with the counts they had at one moment. A walk stays with the ranking it began on (its cursor carries the
 * name), and looks at each row as it is now: what has ended, or no longer matches, is left out. So whatever is live
 * during the whole walk appears exactly once (D-33). A ranking is made when a walk begins and something has changed
 * since the last one, and is kept for five minutes after it was last used; a cursor whose ranking is gone goes on by sort
 * key in the newest one.
 *
 * Look-ups by user, and followed channels, do not scan: the rows are found by user and sorted. Only if they do not fit
 * on one page is a ranking needed for them too.
 */
import type { Key, Page, Window } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import { compareRank, type Rank } from '../domain/ranking.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { Change, LiveStream } from '../store/feed.ts'

const KEPT_MILLISECONDS = 5 * 60 * 1000
/** The oldest that the ranking of a new walk may be (D-34). */
const STALE_MILLISECONDS = 1000
/** Up to this size a ranking costs so little that every walk begins on one of its own moment. */
const SMALL = 2000
/** Beyond it, rankings are made for at most this share of the time. */
const BUSY_SHARE = 1 / 20
/** Above this many kept places new rankings are made once a second only, so that memory stays bounded. */
const MANY_PLACES = 4_000_000

/** A stream's place in memory: it outlives changes of the stream, and rankings point to it. */
interface Slot {
  stream: Stream
  live: boolean
}

interface Ranking {
  readonly name: string
  readonly slots: readonly Slot[]
  readonly counts: Int32Array
  readonly madeAt: number
  usedAt: number
  /** Whether a cursor names it. */
  promised: boolean
  /** Where each slot stands; filled when first needed. */
  places?: Map<Slot, number>
}

export interface StreamFilter {
  readonly user_ids?: readonly string[] | undefined
  readonly user_logins?: readonly string[] | undefined
  readonly game_ids?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
}

export type StreamPage = Page<Stream> & { readonly memory: Key }

export const streamKey = (stream: Stream): Key => [stream.viewer_count, stream.id]

export class Directory {
  readonly #byStream = new Map<string, Slot>()
  readonly #byUser = new Map<string, Slot>()
  readonly #byLogin = new Map<string, Slot>()
  readonly #kept = new Map<string, Ranking>()
  readonly #publicUrl: string
  readonly #monotonic: () => number
  readonly #runName = randomAlphanumerics(8)
  #made = 0
  #newest: Ranking | undefined
  #changed = true
  #patience = 0

  constructor(options: { publicUrl: string; monotonic?: () => number }) {
    this.#publicUrl = options.publicUrl
    this.#monotonic = options.monotonic ?? (() => performance.now())
  }

  get size(): number {
    return this.#byStream.size
  }

  /** Holds exactly these streams from now on. Those that it knew keep their place in the rankings under way. */
  reload(streams: readonly LiveStream[]): void {
    const loaded = new Set(streams.map(stream => stream.id))
    for (const id of [...this.#byStream.keys()]) if (!loaded.has(id)) this.#end(id)
    for (const stream of streams) this.#put(stream)
    this.#changed = true
  }

  apply(change: Change): void {
    this.#changed = true
    if (change.kind === 'stream') this.#put(change.stream)
    else if (change.kind === 'end') this.#end(change.stream_id)
    else if (change.kind === 'viewers') {
      for (const [stream_id, viewer_count] of change.counts) {
        const slot = this.#byStream.get(stream_id)
        if (slot !== undefined) slot.stream = { ...slot.stream, viewer_count }
      }
    }
  }

  /** A stream from the store as it is shown. */
  dress(live: LiveStream): Stream {
    return {
      ...live,
      type: 'live',
      thumbnail_url: `${this.#publicUrl}/thumbnails/${live.user_login}-{width}x{height}.jpg`,
    }
  }

  page(filter: StreamFilter, window: Window): StreamPage {
    const matches = matcher(filter)
    if (filter.user_ids === undefined && filter.user_logins === undefined) {
      const ranking = this.#rankingFor(window, false)
      return this.#cut(ranking, window, matches, undefined)
    }
    const named = new Set<Slot>()
    for (const id of filter.user_ids ?? []) add(named, this.#byUser.get(id))
    for (const login of filter.user_logins ?? []) add(named, this.#byLogin.get(login.toLowerCase()))
    return this.#pageOf(named, window, matches)
  }

  /** The streams of these channels, such as those that somebody follows. */
  pageOfUsers(user_ids: readonly string[], window: Window): StreamPage {
    const named = new Set<Slot>()
    for (const id of user_ids) add(named, this.#byUser.get(id))
    return this.#pageOf(named, window, () => true)
  }

  #pageOf(named: ReadonlySet<Slot>, window: Window, matches: (stream: Stream) => boolean): StreamPage {
    if (window.from === undefined && named.size <= window.first) {
      const rows = [...named].map(slot => slot.stream).filter(matches)
      return { rows: rows.sort(compareRank), more: false, memory: [] }
    }
    return this.#cut(this.#rankingFor(window, true), window, matches, named)
  }

  /** Walks along the ranking from the place asked for until the page is full and one more row is known. */
  #cut(
    ranking: Ranking,
    window: Window,
    matches: (stream: Stream) => boolean,
    named: ReadonlySet<Slot> | undefined,
  ): StreamPage {
    const forward = window.direction === 'forward'
    const places = named && placesOf(ranking, named)
    const length = places?.length ?? ranking.slots.length
    const at = (index: number) => places?.[index] ?? index
    const step = forward ? 1 : -1
    let index = window.from === undefined ? 0 : startOf(ranking, at, length, toRank(window.from), forward)
    const rows: Stream[] = []
    for (; index >= 0 && index < length && rows.length <= window.first; index += step) {
      const place = at(index)
      const slot = ranking.slots[place]
      if (slot?.live && matches(slot.stream)) {
        rows.push({ ...slot.stream, viewer_count: ranking.counts[place] ?? 0 })
      }
    }
    const more = rows.length > window.first
    if (more) {
      rows.pop()
      ranking.promised = true
      this.#kept.set(ranking.name, ranking)
    }
    if (!forward) rows.reverse()
    return { rows, more, memory: [ranking.name] }
  }

  #rankingFor(window: Window, fresh: boolean): Ranking {
    const now = this.#monotonic()
    const begun = window.memory && this.#kept.get(String(window.memory[0]))
    const ranking = begun ?? this.#current(now, fresh)
    ranking.usedAt = now
    return ranking
  }

  #current(now: number, fresh: boolean): Ranking {
    const newest = this.#newest
    if (newest !== undefined) {
      if (!this.#changed) return newest
      if (!fresh && now - newest.madeAt < this.#patience) return newest
    }
    const ranking = this.#rank(now)
    this.#newest = ranking
    this.#changed = false
    this.#forget(now)
    const size = ranking.slots.length
    const cost = this.#monotonic() - now
    if (this.#kept.size * size > MANY_PLACES) this.#patience = STALE_MILLISECONDS
    else this.#patience = size <= SMALL ? 0 : Math.min(cost / BUSY_SHARE, STALE_MILLISECONDS)
    return ranking
  }

  #rank(now: number): Ranking {
    const slots = [...this.#byStream.values()].sort((a, b) => compareRank(a.stream, b.stream))
    this.#made += 1
    return {
      name: `${this.#runName}${this.#made}`,
      slots,
      counts: Int32Array.from(slots, slot => slot.stream.viewer_count),
      madeAt: now,
      usedAt: now,
      promised: false,
    }
  }

  #forget(now: number): void {
    for (const [name, ranking] of this.#kept) {
      if (now - ranking.usedAt > KEPT_MILLISECONDS) this.#kept.delete(name)
    }
  }

  #put(live: LiveStream): void {
    const stream = this.dress(live)
    const former = this.#byUser.get(live.user_id)
    if (former !== undefined && former.stream.id !== live.id) this.#end(former.stream.id)
    const slot = this.#byStream.get(live.id) ?? { stream, live: true }
    this.#byLogin.delete(slot.stream.user_login)
    slot.stream = stream
    this.#byStream.set(stream.id, slot)
    this.#byUser.set(stream.user_id, slot)
    this.#byLogin.set(stream.user_login, slot)
    this.#changed = true
  }

  #end(stream_id: string): void {
    const slot = this.#byStream.get(stream_id)
    if (slot === undefined) return
    slot.live = false
    this.#byStream.delete(stream_id)
    this.#byUser.delete(slot.stream.user_id)
    if (this.#byLogin.get(slot.stream.user_login) === slot) this.#byLogin.delete(slot.stream.user_login)
  }
}

function add(slots: Set<Slot>, slot: Slot | undefined): void {
  if (slot !== undefined) slots.add(slot)
}

function matcher(filter: StreamFilter): (stream: Stream) => boolean {
  const games = filter.game_ids && new Set(filter.game_ids)
  const languages = filter.languages && new Set(filter.languages)
  return stream =>
    (games === undefined || games.has(stream.game_id)) &&
    (languages === undefined || languages.has(stream.language))
}

/** Where the named slots stand in the ranking, in its order; those that it does not know are left out. */
function placesOf(ranking: Ranking, named: ReadonlySet<Slot>): number[] {
  ranking.places ??= new Map(ranking.slots.map((slot, place) => [slot, place]))
  const places: number[] = []
  for (const slot of named) {
    const place = ranking.places.get(slot)
    if (place !== undefined) places.push(place)
  }
  return places.sort((a, b) => a - b)
}

/** The first place behind `from` (forward), or the last one in front of it, by binary search. */
function startOf(
  ranking: Ranking,
  at: (index: number) => number,
  length: number,
  from: Rank,
  forward: boolean,
): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    const place = at(middle)
    const rank = { viewer_count: ranking.counts[place] ?? 0, id: ranking.slots[place]?.stream.id ?? '' }
    const order = compareRank(rank, from)
    if (order < 0 || (forward && order === 0)) low = middle + 1
    else high = middle
  }
  return forward ? low : low - 1
}

function toRank([viewer_count, id]: Key): Rank {
  return { viewer_count: Number(viewer_count), id: String(id) }
}
