/**
 * The live directory: every live stream in memory, in the order in which GetStreams lists them.
 *
 * The problem: the list is ordered by viewer counts, and these change all the time. A reader who turns pages would see some
 * streams twice and others never. The solution: a walk through the pages keeps one order, that of the counts at the point
 * of the feed where it started. Its cursor carries the point. Every process that follows the feed reaches the same state at
 * the same point, so each page may come from another process.
 *
 *     feed entry --> rows (current state)
 *          |            | copy the counts, undo the later entries
 *          '--> journal -+--> snapshot (counts at a point) --> ranking --> page
 *
 * | A page | uses |
 * |---|---|
 * | without a cursor | the newest snapshot, which a large directory shares between new walks for 0.9 s |
 * | with a point that is cached | that snapshot |
 * | with a point that the journal reaches | a snapshot that is restored from the journal |
 * | with an unknown point, also after `history.ts` has looked for it | the newest ranking, continued by sort key |
 * | of some users or followed channels | their rows, sorted on demand by the counts at the point |
 *
 * What must hold:
 * - Entries are applied in the order of the feed, without gaps (`store/follower.ts`).
 * - A stream that is live during a whole walk appears exactly once (D-33). A walk omits streams that started after its
 *   point, that have ended, or that no longer match the filter: filters apply to the current state of a row.
 * - No request scans all rows. Filters by game and language follow slices of the ranking.
 * - After a start, ranks are in memory before details. A method that needs the details of all streams is called after
 *   `complete` has returned.
 *
 * Glossary:
 * - point: a position in the feed, and with it a state of the directory (`store/feed.ts`).
 * - row: a live stream in memory, stored as JSON with a gap for the viewer count (`row.ts`, `live-rows.ts`).
 * - channel: the entry of a user, live or not, with a reference to the row of the stream (`live-rows.ts`).
 * - details: all that a page shows of a stream, beyond its rank (`details.ts`).
 * - index: the position of a row in arrays by row. A row that ended may share it with a later one (`live-rows.ts`).
 * - journal: the changes of recent feed entries, for restoring counts and games at an earlier point (`journal.ts`).
 * - snapshot: all viewer counts at a point, and the rankings by them (`snapshots.ts`, `snapshot-cache.ts`).
 * - ranking: all rows sorted by the counts of a snapshot, most viewers first. A place is an index into it (`ranking.ts`).
 * - slice: the places of one game, one language or both, in the order of the ranking (`ranking.ts`).
 * - game ranking: the games of a snapshot sorted by their total viewers (`game-ranking.ts`, `game-page.ts`).
 */

import { imageUrl } from '../contract/image-urls.ts'
import type { Page, PageRequest } from '../contract/page.ts'
import { MAX_LATEST } from '../contract/playback/get-latest-streams.ts'
import type { Stream } from '../contract/resources/stream.ts'
import type { Rank } from '../domain/ranking.ts'
import type { ChannelSearch } from '../domain/search/channel-search.ts'
import type { SiteSearch } from '../domain/search/site-search.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type Change, type FeedEntry, type FeedPoint, type LiveStream, samePoint } from '../store/feed.ts'
import type { RankedStream } from '../store/queries/streams.ts'
import { type FoundStream, foundStream, searchLive } from './channel-search.ts'
import { type DetailSource, Details } from './details.ts'
import { findLive } from './find-live.ts'
import { pageOfGames } from './game-page.ts'
import { Journal, NO_STEP, NO_STREAM, type Step } from './journal.ts'
import { type Channel, LiveRows } from './live-rows.ts'
import { type LiveRow, type RenderedStream, renderRow } from './row.ts'
import { Snapshots } from './snapshots.ts'
import { matches, pageOfRanking, pageOfRows, pointIn, type StreamPage, type WalkPage } from './stream-page.ts'

export interface StreamFilter {
  readonly user_ids?: readonly string[] | undefined
  readonly user_logins?: readonly string[] | undefined
  readonly game_ids?: readonly string[] | undefined
  readonly languages?: readonly string[] | undefined
}

export interface FoundLiveStream {
  /** Where the query was found: a value of `FOUND_IN`. */
  readonly place: number
  readonly stream: Stream
}

export class Directory {
  readonly #rows: LiveRows
  readonly #journal: Journal
  readonly #snapshots: Snapshots
  readonly #details: Details
  readonly #publicUrl: string
  #latest: { readonly version: number; readonly rows: readonly LiveRow[] } = { version: Number.NaN, rows: [] }

  constructor(options: {
    readonly publicUrl: string
    readonly monotonic?: () => number
    /** With several processes on one store: until when this one could read the feed, on the monotonic clock. */
    readonly inTouchAt?: () => number
    /** Reads the details of streams; needed after `reloadRanked`. */
    readonly details?: DetailSource
  }) {
    const { publicUrl, monotonic = () => performance.now(), inTouchAt, details } = options
    this.#publicUrl = publicUrl
    this.#rows = new LiveRows(publicUrl, row => this.#snapshots.noteMoved(row))
    this.#details = new Details(this.#rows, details)
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
    for (const stream of streams) this.#rows.put(stream, 0)
    this.#journal.reset(point)
    this.#snapshots.clear()
  }

  /** Fills an empty directory with the ranks of all streams. Their details are read later. */
  reloadRanked(streams: readonly RankedStream[], point: FeedPoint): void {
    this.#details.expect(streams)
    this.#journal.reset(point)
    this.#snapshots.clear()
  }

  /** Whether the details of all streams are in memory. */
  get isComplete(): boolean {
    return this.#details.areComplete
  }

  /** Reads the details that are missing. Requests are answered in between. */
  complete(): Promise<void> {
    return this.#details.readAll()
  }

  /** Ends the reading of details, before the store is closed. */
  close(): Promise<void> {
    return this.#details.stop()
  }

  /** A page of streams that has all details, whether or not the directory is complete. */
  completePage<Shown extends WalkPage<Rank>>(cut: () => Shown): Promise<Shown> {
    return this.#details.readPage(cut)
  }

  apply({ seq, nonce, change }: FeedEntry): void {
    this.#journal.note({ seq, nonce }, this.#applyChange(change, seq))
  }

  /** Whether a walk that started at this point can be continued. */
  knows(point: FeedPoint): boolean {
    return this.#snapshots.knows(point)
  }

  /** Adds older entries to the journal. False if they do not end at the oldest point. The first is the new oldest. */
  recall([base, ...entries]: readonly FeedEntry[]): boolean {
    return base !== undefined && this.#recall(base, entries)
  }

  /**
   * Writes the journal again for entries that were applied to streams which may have been read after them: what an entry
   * changed is then not the difference that it made in memory.
   */
  retrace(base: FeedPoint, entries: readonly FeedEntry[]): void {
    this.#journal.reset(this.#journal.latest)
    this.#recall(base, entries)
  }

  #recall(base: FeedPoint, entries: readonly FeedEntry[]): boolean {
    if (!samePoint(entries.at(-1) ?? base, this.oldest)) return false
    const ended = this.#journal.endedStreams()
    const latestFirst = entries.toReversed().map(entry => this.#pastStep(entry, ended))
    return this.#journal.recall([base, ...entries], latestFirst.reverse())
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

  page({ user_ids, user_logins, game_ids, languages }: StreamFilter, window: PageRequest): StreamPage {
    const filter = {
      games: game_ids && this.#rows.games.find(game_ids),
      languages: languages && this.#rows.languages.find(languages),
    }
    if (user_ids === undefined && user_logins === undefined) {
      const start = this.#pageStart(window)
      const snapshot = start ? this.#snapshots.ranked(start) : this.#snapshots.current()
      return pageOfRanking(snapshot, filter, window)
    }
    const found = new Set<LiveRow>()
    const add = (row: LiveRow | undefined) => row && matches(filter, row) && found.add(row)
    for (const id of user_ids ?? []) add(this.#rows.ofUser(id))
    for (const login of user_logins ?? []) add(this.#rows.ofLogin(login.toLowerCase()))
    return this.#cutPage(found, window)
  }

  /** The channels of these users, for `pageOfChannels`. They stay in memory until the list is released. */
  keepChannels(user_ids: readonly string[]): Channel[] {
    return this.#rows.keepChannels(user_ids)
  }

  /** Releases a list of kept channels. What is in another list stays. */
  releaseChannels(channels: readonly Channel[]): void {
    this.#rows.releaseChannels(channels)
  }

  /** A page of the live streams of these channels, such as those that a user follows. */
  pageOfChannels(channels: readonly Channel[], window: PageRequest): StreamPage {
    const rows: LiveRow[] = []
    for (const { row } of channels) if (row !== undefined) rows.push(row)
    return this.#cutPage(rows, window)
  }

  /** A page of the games that have live streams, by total viewers. */
  pageOfGames(window: PageRequest): WalkPage<Rank> {
    const snapshot = this.#pageStart(window) ?? this.#snapshots.current()
    return pageOfGames(this.#snapshots.gameRanking(snapshot), this.#rows, window, snapshot.point)
  }

  /** The total viewers of those of these games that have a live stream, by id. Needs the details of all streams. */
  viewersOfGames(ids: readonly string[]): ReadonlyMap<string, number> {
    const { games, totals } = this.#snapshots.gameRanking(this.#snapshots.current())
    const places = this.#rows.games.find(ids).map(game => [game, games.indexOf(game)] as const)
    return new Map(
      places.flatMap(([game, place]) =>
        place < 0 ? [] : [[this.#rows.games.nameFor(game), totals[place] as number]],
      ),
    )
  }

  /** A page of the live channels that a search finds, by login. */
  search(search: ChannelSearch, window: PageRequest): Page<FoundStream> {
    return searchLive(this.#rows, search, window)
  }

  /** The best of the live channels that have the query in their names, title or tags, with their viewers. */
  find(search: SiteSearch, most: number): FoundLiveStream[] {
    return findLive(this.#rows, search, most).map(({ row, place }) => ({
      place,
      stream: { ...foundStream(row), viewer_count: this.#rows.counts[row.index] as number },
    }))
  }

  /** At most `MAX_LATEST` streams that started last, the latest first. They are looked for once per ranking. */
  latest(count: number): RenderedStream[] {
    if (this.#latest.version !== this.rankingVersion)
      this.#latest = { version: this.rankingVersion, rows: this.#rows.latest(MAX_LATEST) }
    return this.#latest.rows
      .filter(row => row.live)
      .slice(0, count)
      .map(row => renderRow(row, this.#rows.counts[row.index] as number))
  }

  /** The live stream of a user. */
  findStream(user_id: string): FoundStream | undefined {
    const row = this.#rows.ofUser(user_id)
    return row && foundStream(row)
  }

  /** The game that a live channel plays; empty if it has none, undefined if the channel is offline. */
  findGame(user_id: string): string | undefined {
    const row = this.#rows.ofUser(user_id)
    return row && this.#rows.games.nameFor(row.game)
  }

  #cutPage(rows: Iterable<LiveRow>, window: PageRequest): StreamPage {
    const now = { point: this.#journal.latest, counts: this.#rows.counts }
    return pageOfRows(rows, this.#pageStart(window) ?? now, window)
  }

  /** The snapshot where the walk started; undefined if it starts now, or its point is no longer known. */
  #pageStart(window: PageRequest) {
    const point = pointIn(window)
    return point && this.#snapshots.at(point)
  }

  #applyChange(change: Change, seq: number): Step {
    switch (change.kind) {
      case 'stream': {
        const { stream, was, was_game_id } = change
        const wasGame = was === null ? NO_STREAM : this.#rows.games.of(was_game_id)
        const row = this.#rows.put(stream, was === null ? seq : undefined)
        if (was === stream.viewer_count && wasGame === row.game) return NO_STEP
        return { indexes: [row.index], was: [was ?? 0], wasGame }
      }
      case 'end': {
        const row = this.#rows.ofStream(change.stream_id)
        if (row === undefined) return NO_STEP
        this.#rows.end(row.id)
        const was = [this.#rows.counts[row.index] as number]
        const wasGame = this.#rows.games.of(change.game_id)
        return { indexes: [row.index], was, wasGame, ended: row.id }
      }
      case 'viewers':
        return this.#stepOfCounts(change, { counts: this.#rows.counts })
      default:
        return NO_STEP
    }
  }

  /**
   * The changes of a past entry, which are found from the latest entry back. `ended` has the streams that have ended since,
   * with their indexes.
   */
  #pastStep({ seq, change }: FeedEntry, ended: Map<string, number>): Step {
    switch (change.kind) {
      case 'stream': {
        const { stream, was, was_game_id } = change
        const row = this.#rows.ofStream(stream.id)
        if (row !== undefined && was === null) row.since = seq
        const index = row?.index ?? ended.get(stream.id)
        if (index === undefined) return NO_STEP
        const wasGame = was === null ? NO_STREAM : this.#rows.games.of(was_game_id)
        return { indexes: [index], was: [was ?? 0], wasGame }
      }
      case 'end': {
        const { stream_id, game_id, viewer_count } = change
        const index = this.#rows.indexOfEnded()
        ended.set(stream_id, index)
        return {
          indexes: [index],
          was: [viewer_count],
          wasGame: this.#rows.games.of(game_id),
          ended: stream_id,
        }
      }
      case 'viewers':
        return this.#stepOfCounts(change, { ended })
      default:
        return NO_STEP
    }
  }

  /** Also writes the new viewer counts to `counts`, if present. */
  #stepOfCounts(
    { stream_ids, viewers, was }: Extract<Change, { kind: 'viewers' }>,
    { counts, ended }: { counts?: Int32Array; ended?: ReadonlyMap<string, number> },
  ): Step {
    const indexes = new Int32Array(stream_ids.length)
    const before = new Int32Array(stream_ids.length)
    let known = 0
    for (let place = 0; place < stream_ids.length; place++) {
      const id = stream_ids[place] as string
      const index = this.#rows.ofStream(id)?.index ?? ended?.get(id)
      if (index === undefined) continue
      if (counts !== undefined) counts[index] = viewers[place] as number
      indexes[known] = index
      before[known] = was[place] as number
      known += 1
    }
    if (known === stream_ids.length) return { indexes, was: before }
    return { indexes: indexes.slice(0, known), was: before.slice(0, known) }
  }
}
