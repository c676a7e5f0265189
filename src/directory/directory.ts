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
 * Nothing is scanned that need not be. Look-ups by user, and followed channels, find their rows by user; filters by game
 * and language walk along slices of the ranking. Rows are kept as JSON with a gap for the viewer count.
 */
import type { Key, Page, Window } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import { compareRank, type Rank } from '../domain/ranking.ts'
import { compareDecimal } from '../kit/decimal.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { Change, LiveStream } from '../store/feed.ts'
import { makeRanking, type Ranking, type Slot, sliceOf, walkAlong } from './ranking.ts'

const KEPT_MILLISECONDS = 5 * 60 * 1000
/** The oldest that the ranking of a new walk may be (D-34). */
const STALE_MILLISECONDS = 1000
/** Up to this size a ranking costs so little that every walk begins on one of its own moment. */
const SMALL = 2000
/** Beyond it, rankings are made for at most this share of the time. */
const BUSY_SHARE = 1 / 20
/** Above this many kept places new rankings are made once a second only; above the most, the oldest are dropped early. */
const MANY_PLACES = 4_000_000
const MOST_PLACES = 30_000_000

export interface StreamFilter {
  readonly user_ids?: readonly string[] | undefined
  readonly user_logins?: readonly string[] | undefined
  readonly game_ids?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
}

/** A row of a page: where it stands, and its text. */
export interface ShownStream extends Rank {
  readonly json: string
}

export type StreamPage = Page<ShownStream> & { readonly memory: Key }

export const streamKey = (row: Rank): Key => [row.viewer_count, row.id]

export class Directory {
  readonly #byStream = new Map<string, Slot>()
  readonly #byUser = new Map<string, Slot>()
  readonly #byLogin = new Map<string, Slot>()
  readonly #kept = new Map<string, Ranking>()
  readonly #publicUrl: string
  readonly #monotonic: () => number
  readonly #runName = randomAlphanumerics(8)
  /** Slots by id, ascending, but for those that came late (`#unsorted`) and those that have ended since. */
  #byId: Slot[] = []
  #unsorted = false
  #version = 0
  #made = 0
  #newest: { ranking: Ranking; version: number; madeAt: number } | undefined
  #patience = 0
  #keptPlaces = 0

  constructor(options: { publicUrl: string; monotonic?: () => number }) {
    this.#publicUrl = options.publicUrl
    this.#monotonic = options.monotonic ?? (() => performance.now())
  }

  get size(): number {
    return this.#byStream.size
  }

  /** Moves with every change: while it stands still, the same question has the same answer. */
  get version(): number {
    return this.#version
  }

  /** Holds exactly these streams from now on. Those that it knew keep their place in the rankings under way. */
  reload(streams: readonly LiveStream[]): void {
    const loaded = new Set(streams.map(stream => stream.id))
    for (const id of [...this.#byStream.keys()]) if (!loaded.has(id)) this.#end(id)
    for (const stream of streams) this.#put(stream)
    this.#version += 1
  }

  apply(change: Change): void {
    this.#version += 1
    if (change.kind === 'stream') this.#put(change.stream)
    else if (change.kind === 'end') this.#end(change.stream_id)
    else if (change.kind === 'viewers') {
      for (const [stream_id, viewers] of change.counts) {
        const slot = this.#byStream.get(stream_id)
        if (slot !== undefined) slot.viewers = viewers
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
    if (filter.user_ids !== undefined || filter.user_logins !== undefined) {
      const named = new Set<Slot>()
      for (const id of filter.user_ids ?? []) add(named, this.#byUser.get(id))
      for (const login of filter.user_logins ?? []) add(named, this.#byLogin.get(login.toLowerCase()))
      return this.#pageOf(named, window, matches)
    }
    const ranking = this.#begunOn(window) ?? this.#current()
    return this.#cut(ranking, sliceOf(ranking, filter), window, matches)
  }

  /** The streams of these channels, such as those that somebody follows. */
  pageOfUsers(user_ids: readonly string[], window: Window): StreamPage {
    const named = new Set<Slot>()
    for (const id of user_ids) add(named, this.#byUser.get(id))
    return this.#pageOf(named, window, () => true)
  }

  /**
   * Rows found by user are few. If they do not fit on one page, the walk gets a ranking of its own, of these rows alone;
   * those that are no longer named, such as a channel that was unfollowed meanwhile, are left out.
   */
  #pageOf(named: ReadonlySet<Slot>, window: Window, matches: (slot: Slot) => boolean): StreamPage {
    if (window.from === undefined && named.size <= window.first) {
      const rows = [...named].filter(matches).map(slot => this.#show(slot, slot.viewers))
      return { rows: rows.sort(compareRank), more: false, memory: [] }
    }
    const inIdOrder = () => [...named].sort((a, b) => compareDecimal(a.stream.id, b.stream.id))
    const ranking = this.#begunOn(window) ?? makeRanking(this.#nextName(), inIdOrder(), this.#monotonic())
    return this.#cut(ranking, undefined, window, slot => named.has(slot) && matches(slot))
  }

  /** Walks along the ranking from the place asked for until the page is full and one more row is known. */
  #cut(
    ranking: Ranking,
    slices: readonly (readonly number[])[] | undefined,
    window: Window,
    matches: (slot: Slot) => boolean,
  ): StreamPage {
    const forward = window.direction === 'forward'
    const next = walkAlong(ranking, slices, window.from && toRank(window.from), forward)
    const rows: ShownStream[] = []
    for (let place = next(); place >= 0; place = next()) {
      const slot = ranking.slots[place]
      if (!slot?.live || !matches(slot)) continue
      rows.push(this.#show(slot, ranking.counts[place] ?? 0))
      if (rows.length > window.first) break
    }
    const more = rows.length > window.first
    if (more) {
      rows.pop()
      this.#keep(ranking)
    }
    if (!forward) rows.reverse()
    return { rows, more, memory: [ranking.name] }
  }

  #show(slot: Slot, viewer_count: number): ShownStream {
    slot.text ??= split(this.dress(slot.stream))
    const { head, tail } = slot.text
    return { id: slot.stream.id, viewer_count, json: `${head}${viewer_count}${tail}` }
  }

  /** The ranking that a walk began on, if it is still kept. */
  #begunOn(window: Window): Ranking | undefined {
    return window.memory && this.#kept.get(String(window.memory[0]))
  }

  /** The ranking for a new walk: of this moment, or in a large directory of a moment ago. */
  #current(): Ranking {
    const now = this.#monotonic()
    const newest = this.#newest
    if (newest !== undefined) {
      if (newest.version === this.#version || now - newest.madeAt < this.#patience) return newest.ranking
    }
    const ranking = makeRanking(this.#nextName(), this.#inIdOrder(), now)
    this.#newest = { ranking, version: this.#version, madeAt: now }
    const size = ranking.slots.length
    const cost = this.#monotonic() - now
    if (this.#keptPlaces > MANY_PLACES) this.#patience = STALE_MILLISECONDS
    else this.#patience = size <= SMALL ? 0 : Math.min(cost / BUSY_SHARE, STALE_MILLISECONDS)
    return ranking
  }

  #nextName(): string {
    this.#made += 1
    return `${this.#runName}${this.#made}`
  }

  /** A cursor names this ranking now. It goes to the end of the line; from its front, what is old or too much is dropped. */
  #keep(ranking: Ranking): void {
    const now = this.#monotonic()
    ranking.usedAt = now
    if (!this.#kept.delete(ranking.name)) this.#keptPlaces += ranking.slots.length
    this.#kept.set(ranking.name, ranking)
    for (const [name, oldest] of this.#kept) {
      if (now - oldest.usedAt <= KEPT_MILLISECONDS && this.#keptPlaces <= MOST_PLACES) break
      this.#kept.delete(name)
      this.#keptPlaces -= oldest.slots.length
    }
  }

  #inIdOrder(): readonly Slot[] {
    this.#byId = this.#byId.filter(slot => slot.live)
    if (this.#unsorted) this.#byId.sort((a, b) => compareDecimal(a.stream.id, b.stream.id))
    this.#unsorted = false
    return this.#byId
  }

  #put(stream: LiveStream): void {
    const former = this.#byUser.get(stream.user_id)
    if (former !== undefined && former.stream.id !== stream.id) this.#end(former.stream.id)
    let slot = this.#byStream.get(stream.id)
    if (slot === undefined) {
      slot = { stream, viewers: stream.viewer_count, live: true, text: undefined }
      const last = this.#byId.at(-1)
      if (last !== undefined && compareDecimal(last.stream.id, stream.id) > 0) this.#unsorted = true
      this.#byId.push(slot)
      this.#byStream.set(stream.id, slot)
      this.#byUser.set(stream.user_id, slot)
    } else {
      if (this.#byLogin.get(slot.stream.user_login) === slot) this.#byLogin.delete(slot.stream.user_login)
      slot.stream = stream
      slot.viewers = stream.viewer_count
      slot.text = undefined
    }
    this.#byLogin.set(stream.user_login, slot)
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

/** Rows are looked at as they are now: a slice knows what they were when the ranking was made. */
function matcher(filter: StreamFilter): (slot: Slot) => boolean {
  if (filter.game_ids === undefined && filter.languages === undefined) return () => true
  const games = filter.game_ids && new Set(filter.game_ids)
  const languages = filter.languages && new Set(filter.languages)
  return ({ stream }) =>
    (games === undefined || games.has(stream.game_id)) &&
    (languages === undefined || languages.has(stream.language))
}

/** The row as text, cut where the viewer count goes; the order of fields is that of the contract. */
function split(stream: Stream): { head: string; tail: string } {
  const { id, user_id, user_login, user_name, game_id, game_name, type, title } = stream
  const { started_at, language, thumbnail_url, tags, is_mature } = stream
  const before = JSON.stringify({ id, user_id, user_login, user_name, game_id, game_name, type, title })
  const behind = JSON.stringify({ started_at, language, thumbnail_url, tags, is_mature })
  return { head: `${before.slice(0, -1)},"viewer_count":`, tail: `,${behind.slice(1)}` }
}

function toRank([viewer_count, id]: Key): Rank {
  return { viewer_count: Number(viewer_count), id: String(id) }
}
