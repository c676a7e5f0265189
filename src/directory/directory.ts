/**
 * The live directory: every live stream in memory, in the order in which GetStreams shows them.
 *
 * Viewer counts move all the time, so a walk through the pages needs a fixed order to walk along: a ranking by the counts
 * of one point of the feed. A walk stays with the point it began at (its cursor carries it), and looks at each row as it is
 * now: what has ended, or no longer matches, is left out. So whatever is live during the whole walk appears exactly once
 * (D-33). A point means the same in every process that follows the feed, so each page may come from another one. Rankings
 * of late are kept, and others are made anew from the journal; a cursor whose point is older than that goes on by sort key
 * in the newest ranking.
 *
 * Nothing is scanned that need not be. Look-ups by user, and followed channels, find their rows by user; filters by game
 * and language walk along slices of the ranking. Streams are kept as JSON with a gap for the viewer count.
 */
import type { Key, Page, Window } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import { compareRank, type Rank } from '../domain/ranking.ts'
import { compareDecimal } from '../kit/decimal.ts'
import type { Metrics } from '../kit/metrics.ts'
import { type Change, type FeedEntry, type FeedPoint, type LiveStream, samePoint } from '../store/feed.ts'
import { Journal, NO_STEP, type Step } from './journal.ts'
import { Numbers } from './numbers.ts'
import {
  makeRanking,
  noteStray,
  type ShownStream,
  type SliceFilter,
  type Slot,
  sliceOf,
  walkAlong,
} from './ranking.ts'
import { withGap } from './row.ts'
import { type Ranked, type Standing, Standings } from './standings.ts'

/** Up to this size a ranking costs so little that every walk begins on one of its own moment. */
const SMALL = 2000
/** Beyond it, whoever begins a walk gets a ranking that was made a moment ago, but never one older than a second (D-34). */
const MAX_WAIT_MILLISECONDS = 900
/** The feed is read four times a second: after this long it could not be. */
const OUT_OF_TOUCH_MILLISECONDS = 400
/** Whatever is older than this has been read by everybody who reads at all. */
const SHARED_MILLISECONDS = 400
export interface StreamFilter {
  readonly user_ids?: readonly string[] | undefined
  readonly user_logins?: readonly string[] | undefined
  readonly game_ids?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
}

export type StreamPage = Page<ShownStream> & { readonly memory: Key }

export const streamSortKey = (row: Rank): Key => [row.viewer_count, row.id]

/** The point that a walk began at, as its cursor remembers it. */
export function pointIn({ memory }: Window): FeedPoint | undefined {
  return memory && { seq: Number(memory[0]), nonce: String(memory[1]) }
}

/** A channel's seat: empty, or taken by its running stream. Whoever looks at the same channels often keeps their seats. */
export interface Seat {
  readonly user_id: string
  slot: Slot | undefined
  /** Somebody keeps this seat, so it stays when the stream ends. */
  kept: boolean
}

export class Directory {
  readonly #byStream = new Map<string, Slot>()
  readonly #seats = new Map<string, Seat>()
  readonly #byLogin = new Map<string, Slot>()
  readonly #kept = new Standings()
  readonly #games = new Numbers()
  readonly #languages = new Numbers()
  readonly #publicUrl: string
  readonly #monotonic: () => number
  readonly #inTouchAt: (() => number) | undefined
  /** Viewer counts by the index of the slot; an index is free again when its stream has ended. */
  #counts = new Int32Array(1024)
  #used = 0
  #free: number[] = []
  /** Slots by id, ascending, but for those that came late (`#unsorted`) and those that have ended since. */
  #byId: Slot[] = []
  #unsorted = false
  #journal = new Journal({ seq: 0, nonce: '' })
  #newest: { standing: Ranked; madeAt: number } | undefined
  #maxWait = 0
  #made = 0

  constructor(options: {
    publicUrl: string
    monotonic?: () => number
    /** Where pages of a walk may come from other processes: when the feed was last read, on the monotonic clock. */
    inTouchAt?: () => number
  }) {
    this.#publicUrl = options.publicUrl
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#inTouchAt = options.inTouchAt
  }

  get size(): number {
    return this.#byStream.size
  }

  measure(metrics: Metrics): void {
    let viewers = 0
    for (const { index } of this.#byStream.values()) viewers += this.#counts[index] ?? 0
    metrics.gauge('strand_directory_streams', 'Live streams.', this.size)
    metrics.gauge('strand_directory_viewers', 'Viewers of all live streams together.', viewers)
    metrics.gauge('strand_directory_rankings', 'Rankings kept for walks that are under way.', this.#kept.size)
  }

  /** Moves when a walk that begins now would go along another ranking than before: a page of such a walk holds so long. */
  get rankingVersion(): number {
    this.#current()
    return this.#made
  }

  /** The point from which on walks can be carried on. */
  get oldest(): FeedPoint {
    return this.#journal.oldest
  }

  /** Holds exactly these streams from now on: those of this point of the feed. */
  reload(streams: readonly LiveStream[], point: FeedPoint): void {
    const loaded = new Set(streams.map(stream => stream.id))
    for (const id of [...this.#byStream.keys()]) if (!loaded.has(id)) this.#end(id)
    for (const stream of streams) this.#put(stream, 0)
    this.#journal = new Journal(point)
    this.#kept.clear()
    this.#newest = undefined
  }

  apply({ seq, nonce, change }: FeedEntry): void {
    this.#journal.note({ seq, nonce }, this.#change(change, seq), this.#monotonic())
  }

  /** Whether a walk that began at this point can be carried on. */
  knows(point: FeedPoint): boolean {
    return this.#journal.knows(point) || this.#kept.has(point)
  }

  /**
   * Learns what was before the oldest point: of entries that lead from the point wanted to the oldest, both included. False
   * if they do not.
   */
  recall(entries: readonly FeedEntry[]): boolean {
    const steps = entries.slice(1).map(entry => this.#stepOf(entry))
    return this.#journal.recall(entries, steps, this.#monotonic())
  }

  /** A stream from the store as it is shown. */
  render(live: LiveStream): Stream {
    return {
      ...live,
      type: 'live',
      thumbnail_url: `${this.#publicUrl}/thumbnails/${live.user_login}-{width}x{height}.jpg`,
      tag_ids: [],
    }
  }

  page(filter: StreamFilter, window: Window): StreamPage {
    const wanted = {
      games: filter.game_ids && this.#games.find(filter.game_ids),
      languages: filter.languages && this.#languages.find(filter.languages),
    }
    const matches = matcher(wanted)
    if (filter.user_ids !== undefined || filter.user_logins !== undefined) {
      const named = new Set<Slot>()
      for (const id of filter.user_ids ?? []) add(named, this.#seats.get(id)?.slot)
      for (const login of filter.user_logins ?? []) add(named, this.#byLogin.get(login.toLowerCase()))
      return this.#pageOf([...named].filter(matches), window)
    }
    const { point, ranking } = this.#rankingFor(window)
    const forward = window.direction === 'forward'
    const next = walkAlong(ranking, sliceOf(ranking, wanted), window.from && toRank(window.from), forward)
    const rows: ShownStream[] = []
    for (let place = next(); place >= 0; place = next()) {
      const slot = ranking.slots[place]
      if (!slot?.live || !matches(slot)) continue
      rows.push(this.#show(slot, ranking.counts[slot.index] ?? 0))
      if (rows.length > window.first) break
    }
    return cutPage(rows, window, point)
  }

  /** The seats of these channels: what is found with them is found faster than by name. */
  keepSeats(user_ids: readonly string[]): Seat[] {
    return user_ids.map(user_id => {
      const seat = this.#seat(user_id)
      seat.kept = true
      return seat
    })
  }

  /** Nobody keeps a seat any longer. */
  releaseSeats(): void {
    for (const seat of this.#seats.values()) {
      seat.kept = false
      if (seat.slot === undefined) this.#seats.delete(seat.user_id)
    }
  }

  /** The streams in these seats, such as those of channels that somebody follows. */
  pageOfSeats(seats: readonly Seat[], window: Window): StreamPage {
    const taken: Slot[] = []
    for (const { slot } of seats) if (slot !== undefined) taken.push(slot)
    return this.#pageOf(taken, window)
  }

  /** Streams found by user are few: they are put in order each time, by the counts of the point where the walk began. */
  #pageOf(slots: readonly Slot[], window: Window): StreamPage {
    const begun = this.#begunAt(window)
    const { point, counts } = begun ?? { point: this.#journal.latest, counts: this.#counts }
    const from = window.from && toRank(window.from)
    const forward = window.direction === 'forward'
    const places: Place[] = []
    for (const slot of slots) {
      if (slot.since > point.seq) continue
      const place = { slot, viewer_count: counts[slot.index] ?? 0, id: slot.id }
      if (from !== undefined && (forward ? compareRank(place, from) <= 0 : compareRank(place, from) >= 0))
        continue
      places.push(place)
    }
    places.sort(forward ? compareRank : (a, b) => compareRank(b, a))
    const rows = places
      .slice(0, window.first + 1)
      .map(({ slot, viewer_count }) => this.#show(slot, viewer_count))
    return cutPage(rows, window, point)
  }

  #show(slot: Slot, viewer_count: number): ShownStream {
    if (slot.shownCount !== viewer_count) {
      slot.shown = `${slot.text.slice(0, slot.gap)}${viewer_count}${slot.text.slice(slot.gap + 1)}`
      slot.shownCount = viewer_count
    }
    return { id: slot.id, viewer_count, json: slot.shown }
  }

  /** The ranking to walk along: the one that the walk began with, else that of now. */
  #rankingFor(window: Window): Ranked {
    const begun = this.#begunAt(window)
    if (begun === undefined) return this.#current()
    return this.#ranked(begun)
  }

  #ranked(standing: Standing): Ranked {
    if (standing.ranking === undefined) {
      const { seq } = standing.point
      const then = this.#inIdOrder().filter(slot => slot.since <= seq)
      standing.ranking = makeRanking(then, standing.counts)
    }
    return standing as Ranked
  }

  /** How things stood when the walk began; undefined if it begins now, or began longer ago than is remembered. */
  #begunAt(window: Window): Standing | undefined {
    const point = pointIn(window)
    if (point === undefined) return undefined
    const kept = this.#kept.find(point)
    if (kept !== undefined) return this.#kept.keep(kept, this.#monotonic())
    if (!this.#journal.knows(point)) return undefined
    const counts = this.#counts.slice(0, this.#used)
    this.#journal.undo(counts, point.seq)
    return this.#kept.keep({ point, counts, ranking: undefined, usedAt: 0 }, this.#monotonic())
  }

  /** The ranking for a new walk: of this moment, or in a large directory of a moment ago. */
  #current(): Ranked {
    const now = this.#monotonic()
    const point = this.#beginning(now)
    const newest = this.#newest
    if (newest !== undefined) {
      const isOfNow = samePoint(newest.standing.point, point)
      if (isOfNow || now - newest.madeAt < this.#maxWait) return newest.standing
    }
    const counts = this.#counts.slice(0, this.#used)
    this.#journal.undo(counts, point.seq)
    const standing = this.#ranked({ point, counts, ranking: undefined, usedAt: now })
    this.#newest = { standing, madeAt: now }
    this.#made += 1
    this.#kept.keep(standing, now)
    this.#maxWait = this.size <= SMALL ? 0 : MAX_WAIT_MILLISECONDS
    return standing
  }

  /**
   * The point where new walks begin: the latest. While the feed cannot be read, it is one that the other processes have read
   * as well: of a younger one, which only this process knows, they could not learn until the store is back.
   */
  #beginning(now: number): FeedPoint {
    const inTouchAt = this.#inTouchAt?.() ?? now
    if (now - inTouchAt <= OUT_OF_TOUCH_MILLISECONDS) return this.#journal.latest
    return this.#journal.latestAt(inTouchAt - SHARED_MILLISECONDS)
  }

  #inIdOrder(): readonly Slot[] {
    this.#byId = this.#byId.filter(slot => slot.live)
    if (this.#unsorted) this.#byId.sort((a, b) => compareDecimal(a.id, b.id))
    this.#unsorted = false
    return this.#byId
  }

  #change(change: Change, seq: number): Step {
    if (change.kind === 'stream') {
      const slot = this.#put(change.stream, change.was === null ? seq : undefined)
      return change.was === null ? NO_STEP : stepBack(slot, change.stream.viewer_count, change.was)
    }
    if (change.kind === 'end') this.#end(change.stream_id)
    if (change.kind !== 'viewers') return NO_STEP
    return this.#stepOfCounts(change, (slot, viewers) => {
      this.#counts[slot.index] = viewers
    })
  }

  /** What an entry of the past did to the counts of streams that are live now. */
  #stepOf({ seq, change }: FeedEntry): Step {
    if (change.kind === 'viewers') return this.#stepOfCounts(change, () => undefined)
    if (change.kind !== 'stream') return NO_STEP
    const slot = this.#byStream.get(change.stream.id)
    if (slot === undefined) return NO_STEP
    if (change.was !== null) return stepBack(slot, change.stream.viewer_count, change.was)
    slot.since = seq
    return NO_STEP
  }

  #stepOfCounts(
    { stream_ids, viewers, was }: Extract<Change, { kind: 'viewers' }>,
    use: (slot: Slot, viewers: number) => void,
  ): Step {
    const slots = new Int32Array(stream_ids.length)
    const before = new Int32Array(stream_ids.length)
    let known = 0
    for (let place = 0; place < stream_ids.length; place++) {
      const slot = this.#byStream.get(stream_ids[place] ?? '')
      if (slot === undefined) continue
      use(slot, viewers[place] ?? 0)
      slots[known] = slot.index
      before[known] = was[place] ?? 0
      known += 1
    }
    if (known === stream_ids.length) return { slots, was: before }
    return { slots: slots.slice(0, known), was: before.slice(0, known) }
  }

  /** Takes a stream in, or its news. `since` is given if it started with this. */
  #put(stream: LiveStream, since: number | undefined): Slot {
    const former = this.#seats.get(stream.user_id)?.slot
    if (former !== undefined && former.id !== stream.id) this.#end(former.id)
    const slot = this.#byStream.get(stream.id) ?? this.#newSlot(stream)
    if (since !== undefined) slot.since = since
    this.#describe(slot, stream)
    this.#counts[slot.index] = stream.viewer_count
    return slot
  }

  #describe(slot: Slot, stream: LiveStream): void {
    const { text, gap } = withGap(this.render(stream))
    const game = this.#games.of(stream.game_id)
    const language = this.#languages.of(stream.language)
    const plays = slot.game === game && slot.language === language
    if (this.#byLogin.get(slot.login) === slot) this.#byLogin.delete(slot.login)
    this.#byLogin.set(stream.user_login, slot)
    slot.login = stream.user_login
    slot.game = game
    slot.language = language
    slot.text = text
    slot.gap = gap
    slot.shown = ''
    slot.shownCount = -1
    if (plays) return
    for (const ranking of this.#kept.rankings()) noteStray(ranking, slot)
  }

  #newSlot(stream: LiveStream): Slot {
    const slot: Slot = {
      id: stream.id,
      user_id: stream.user_id,
      index: this.#free.pop() ?? this.#used++,
      since: 0,
      login: stream.user_login,
      game: this.#games.of(stream.game_id),
      language: this.#languages.of(stream.language),
      live: true,
      text: '',
      gap: 0,
      shown: '',
      shownCount: -1,
    }
    if (slot.index >= this.#counts.length) {
      const larger = new Int32Array(this.#counts.length * 2)
      larger.set(this.#counts)
      this.#counts = larger
    }
    const last = this.#byId.at(-1)
    if (last !== undefined && compareDecimal(last.id, stream.id) > 0) this.#unsorted = true
    this.#byId.push(slot)
    this.#byStream.set(stream.id, slot)
    this.#seat(stream.user_id).slot = slot
    return slot
  }

  #end(stream_id: string): void {
    const slot = this.#byStream.get(stream_id)
    if (slot === undefined) return
    slot.live = false
    this.#free.push(slot.index)
    this.#byStream.delete(stream_id)
    const seat = this.#seat(slot.user_id)
    seat.slot = undefined
    if (!seat.kept) this.#seats.delete(seat.user_id)
    if (this.#byLogin.get(slot.login) === slot) this.#byLogin.delete(slot.login)
  }

  #seat(user_id: string): Seat {
    let seat = this.#seats.get(user_id)
    if (seat === undefined) {
      seat = { user_id, slot: undefined, kept: false }
      this.#seats.set(user_id, seat)
    }
    return seat
  }
}

interface Place extends Rank {
  readonly slot: Slot
}

function stepBack(slot: Slot, viewers: number, was: number): Step {
  return viewers === was ? NO_STEP : { slots: Int32Array.of(slot.index), was: Int32Array.of(was) }
}

/** Rows in the order of the walk, one more than asked for if there are more: cut, and put in list order. */
function cutPage(rows: ShownStream[], { first, direction }: Window, point: FeedPoint): StreamPage {
  const more = rows.length > first
  if (more) rows.pop()
  if (direction === 'backward') rows.reverse()
  return { rows, more, memory: [point.seq, point.nonce] }
}

function add(slots: Set<Slot>, slot: Slot | undefined): void {
  if (slot !== undefined) slots.add(slot)
}

/** Rows are looked at as they are now: a slice knows what they were when it was made. */
function matcher({ games, languages }: SliceFilter): (slot: Slot) => boolean {
  return slot =>
    (games === undefined || games.includes(slot.game)) &&
    (languages === undefined || languages.includes(slot.language))
}

function toRank([viewer_count, id]: Key): Rank {
  return { viewer_count: Number(viewer_count), id: String(id) }
}
