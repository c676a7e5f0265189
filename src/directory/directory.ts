/**
 * The live directory: every live stream in memory, in the order in which GetStreams lists them.
 *
 * Viewer counts change constantly, so a walk through the pages needs a fixed order: a ranking by the counts at one point of
 * the feed. A walk keeps the point where it started, which its cursor carries, and filters rows by their current state:
 * streams that have ended, or no longer match, are omitted. So a stream that is live during the whole walk appears exactly
 * once (D-33). A point means the same in every process that follows the feed, so each page may come from another process.
 * Recent rankings are cached, and others are rebuilt from the journal; a cursor whose point is older than the journal
 * continues by sort key in the newest ranking.
 *
 * Full scans are avoided. Look-ups by user, and followed channels, find their rows by user; filters by game and language
 * walk along slices of the ranking. Streams are stored as JSON with a gap for the viewer count.
 *
 * Glossary:
 * - point: a position in the feed, and with it a state of the directory (`store/feed.ts`).
 * - row: a live stream in memory (`row.ts`, `live-rows.ts`).
 * - channel: the entry of a user, live or not, with a reference to the row of the stream (`live-rows.ts`).
 * - journal: the changes of recent feed entries, for restoring the counts at an earlier point (`journal.ts`).
 * - snapshot: all viewer counts at a point, and the ranking by them (`snapshots.ts`, `snapshot-cache.ts`).
 * - ranking: all rows sorted by the counts of a snapshot, most viewers first. A place is an index into it (`ranking.ts`).
 * - slice: the places of one game, one language or both, in the order of the ranking (`ranking.ts`).
 */
import { imageUrl } from '../contract/image-urls.ts'
import type { Window } from '../contract/page.ts'
import type { Stream } from '../contract/resources/stream.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { Change, FeedEntry, FeedPoint, LiveStream } from '../store/feed.ts'
import { Journal, NO_STEP, type Step } from './journal.ts'
import { type Channel, LiveRows } from './live-rows.ts'
import type { LiveRow } from './row.ts'
import { Snapshots } from './snapshots.ts'
import { matches, pageOfRanking, pageOfRows, pointIn, type StreamPage } from './stream-page.ts'

export interface StreamFilter {
  readonly user_ids?: readonly string[] | undefined
  readonly user_logins?: readonly string[] | undefined
  readonly game_ids?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
}

export class Directory {
  readonly #rows = new LiveRows(row => this.#snapshots.noteMoved(row))
  readonly #journal: Journal
  readonly #snapshots: Snapshots
  readonly #publicUrl: string

  constructor(options: {
    readonly publicUrl: string
    readonly monotonic?: () => number
    /** With several processes on one store: when this one last read the feed to its end, on the monotonic clock. */
    readonly inTouchAt?: () => number
  }) {
    const { publicUrl, monotonic = () => performance.now(), inTouchAt } = options
    this.#publicUrl = publicUrl
    this.#journal = new Journal(monotonic)
    this.#snapshots = new Snapshots(this.#rows, this.#journal, monotonic, inTouchAt)
  }

  get size(): number {
    return this.#rows.size
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_directory_streams', 'Live streams.', this.size)
    const viewers = this.#rows.totalViewers()
    metrics.gauge('strand_directory_viewers', 'Total viewers of all live streams.', viewers)
    metrics.gauge('strand_directory_rankings', 'Cached rankings for walks in progress.', this.#snapshots.size)
  }

  /** Changes when new walks start on another ranking. Until then, first pages stay the same. */
  get rankingVersion(): number {
    return this.#snapshots.version
  }

  /** The oldest point in the journal. */
  get oldest(): FeedPoint {
    return this.#journal.oldest
  }

  /** Replaces all streams with those at this point of the feed. */
  reload(streams: readonly LiveStream[], point: FeedPoint): void {
    this.#rows.endOthers(streams)
    for (const stream of streams) this.#rows.put(this.render(stream), 0)
    this.#journal.reset(point)
    this.#snapshots.clear()
  }

  apply({ seq, nonce, change }: FeedEntry): void {
    this.#journal.note({ seq, nonce }, this.#applyChange(change, seq))
  }

  /** Whether a walk that started at this point can be continued. */
  knows(point: FeedPoint): boolean {
    return this.#snapshots.knows(point)
  }

  /** Adds older entries to the journal. False if they do not end at the oldest point. The first is the new oldest. */
  recall(entries: readonly FeedEntry[]): boolean {
    const steps = entries.slice(1).map(entry => this.#pastStep(entry))
    return this.#journal.recall(entries, steps)
  }

  /** A stream from the store as the API returns it. */
  render(live: LiveStream): Stream {
    return {
      ...live,
      type: 'live',
      thumbnail_url: imageUrl(this.#publicUrl, 'channels', live.user_id),
      tag_ids: [],
    }
  }

  page({ user_ids, user_logins, game_ids, languages }: StreamFilter, window: Window): StreamPage {
    const filter = {
      games: game_ids && this.#rows.games.find(game_ids),
      languages: languages && this.#rows.languages.find(languages),
    }
    if (user_ids === undefined && user_logins === undefined) {
      const start = this.#startOf(window)
      const snapshot = start ? this.#snapshots.ranked(start) : this.#snapshots.current()
      return pageOfRanking(snapshot, filter, window)
    }
    const found = new Set<LiveRow>()
    const add = (row: LiveRow | undefined) => row && matches(filter, row) && found.add(row)
    for (const id of user_ids ?? []) add(this.#rows.ofUser(id))
    for (const login of user_logins ?? []) add(this.#rows.ofLogin(login.toLowerCase()))
    return this.#pageOf(found, window)
  }

  /** The channels of these users, for `pageOfChannels`. They stay in memory until all are released. */
  keepChannels(user_ids: readonly string[]): Channel[] {
    return this.#rows.keepChannels(user_ids)
  }

  /** Releases all channels except these. */
  releaseChannels(kept: readonly (readonly Channel[])[]): void {
    this.#rows.releaseChannels(kept)
  }

  /** A page of the live streams of these channels, such as those that a user follows. */
  pageOfChannels(channels: readonly Channel[], window: Window): StreamPage {
    const rows: LiveRow[] = []
    for (const { row } of channels) if (row !== undefined) rows.push(row)
    return this.#pageOf(rows, window)
  }

  #pageOf(rows: Iterable<LiveRow>, window: Window): StreamPage {
    const now = { point: this.#journal.latest, counts: this.#rows.counts }
    return pageOfRows(rows, this.#startOf(window) ?? now, window)
  }

  /** The snapshot where the walk started; undefined if it starts now, or its point is no longer known. */
  #startOf(window: Window) {
    const point = pointIn(window)
    return point && this.#snapshots.at(point)
  }

  #applyChange(change: Change, seq: number): Step {
    switch (change.kind) {
      case 'stream': {
        const isStart = change.was === null
        const row = this.#rows.put(this.render(change.stream), isStart ? seq : undefined)
        return stepOfStream(row, change)
      }
      case 'end':
        this.#rows.end(change.stream_id)
        return NO_STEP
      case 'viewers':
        return this.#stepOfCounts(change, this.#rows.counts)
      default:
        return NO_STEP
    }
  }

  /** The changes of a past entry to streams that are live now. */
  #pastStep({ seq, change }: FeedEntry): Step {
    if (change.kind === 'viewers') return this.#stepOfCounts(change)
    const row = change.kind === 'stream' ? this.#rows.ofStream(change.stream.id) : undefined
    if (change.kind !== 'stream' || row === undefined) return NO_STEP
    if (change.was === null) row.since = seq
    return stepOfStream(row, change)
  }

  /** Also writes the new viewer counts to `counts`, if present. */
  #stepOfCounts(
    { stream_ids, viewers, was }: Extract<Change, { kind: 'viewers' }>,
    counts?: Int32Array,
  ): Step {
    const indexes = new Int32Array(stream_ids.length)
    const before = new Int32Array(stream_ids.length)
    let known = 0
    for (let place = 0; place < stream_ids.length; place++) {
      const row = this.#rows.ofStream(stream_ids[place] as string)
      if (row === undefined) continue
      if (counts !== undefined) counts[row.index] = viewers[place] as number
      indexes[known] = row.index
      before[known] = was[place] as number
      known += 1
    }
    if (known === stream_ids.length) return { indexes, was: before }
    return { indexes: indexes.slice(0, known), was: before.slice(0, known) }
  }
}

function stepOfStream({ index }: LiveRow, { stream, was }: Extract<Change, { kind: 'stream' }>): Step {
  if (was === null || was === stream.viewer_count) return NO_STEP
  return { indexes: Int32Array.of(index), was: Int32Array.of(was) }
}
