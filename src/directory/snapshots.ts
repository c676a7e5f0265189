import { type FeedPoint, samePoint } from '../store/feed.ts'
import { type GameRanking, rankGames } from './game-ranking.ts'
import type { Journal } from './journal.ts'
import type { LiveRows } from './live-rows.ts'
import { makeRanking, noteMoved, type Ranking } from './ranking.ts'
import type { LiveRow } from './row.ts'
import { type Snapshot, SnapshotCache } from './snapshot-cache.ts'

/** Up to this size rankings are cheap enough to start every walk on a current one. */
const SMALL = 2000
/** In a larger directory new walks share a ranking for this long, which keeps it less than a second old (D-34). */
const SHARED_FOR_MILLISECONDS = 900
/** A store that has not answered a read of the feed for longer is away, not slow. */
const OUT_OF_TOUCH_MILLISECONDS = 400
/** The feed is read four times a second: entries that were so old when this process was last in touch are known to all. */
const KNOWN_TO_ALL_MILLISECONDS = 650

export type RankedSnapshot = Snapshot & { readonly ranking: Ranking }

/** The snapshots of walks: the one for new walks, and those of walks that started earlier. */
export class Snapshots {
  readonly #rows: LiveRows
  readonly #journal: Journal
  readonly #monotonic: () => number
  readonly #inTouchAt: (() => number) | undefined
  readonly #cache = new SnapshotCache()
  #newest: RankedSnapshot | undefined
  #newestUntil = 0
  #made = 0

  constructor(rows: LiveRows, journal: Journal, monotonic: () => number, inTouchAt?: () => number) {
    this.#rows = rows
    this.#journal = journal
    this.#monotonic = monotonic
    this.#inTouchAt = inTouchAt
  }

  get size(): number {
    return this.#cache.size
  }

  /** Changes when new walks start on another ranking. */
  get version(): number {
    this.current()
    return this.#made
  }

  clear(): void {
    this.#cache.clear()
    this.#newest = undefined
  }

  /** A row's game or language has changed. */
  noteMoved(row: LiveRow): void {
    for (const ranking of this.#cache.rankings()) noteMoved(ranking, row)
  }

  knows(point: FeedPoint): boolean {
    return this.#journal.knows(point) || this.#cache.has(point)
  }

  /** The snapshot of a point; undefined if the point is unknown. */
  at(point: FeedPoint): Snapshot | undefined {
    const cached = this.#cache.find(point)
    if (cached === undefined && !this.#journal.knows(point)) return undefined
    return this.#cache.keep(cached ?? this.#make(point), this.#monotonic())
  }

  /** The snapshot for a new walk. */
  current(): RankedSnapshot {
    const now = this.#monotonic()
    const point = this.#startingPoint(now)
    const newest = this.#newest
    if (newest !== undefined && (samePoint(newest.point, point) || now < this.#newestUntil)) return newest
    const snapshot = this.#cache.keep(this.ranked(this.#make(point)), now)
    this.#newest = snapshot
    this.#newestUntil = this.#rows.size <= SMALL ? now : now + SHARED_FOR_MILLISECONDS
    this.#made += 1
    return snapshot
  }

  /** The snapshot with its ranking, which is built when first needed. */
  ranked(snapshot: Snapshot): RankedSnapshot {
    const { counts, point } = snapshot
    snapshot.ranking ??= makeRanking(
      this.#rows.inIdOrder().filter(row => row.since <= point.seq),
      counts,
    )
    return snapshot as RankedSnapshot
  }

  /** The games by the viewer counts of a snapshot, ranked when first needed. */
  gameRanking(snapshot: Snapshot): GameRanking {
    if (snapshot.gameRanking === undefined) {
      const games = this.#rows.copyGames()
      this.#journal.undoGames(games, snapshot.point.seq)
      snapshot.gameRanking = rankGames(snapshot.counts, games, this.#rows.games)
    }
    return snapshot.gameRanking
  }

  #make(point: FeedPoint): Snapshot {
    const counts = this.#rows.copyCounts()
    this.#journal.undo(counts, point.seq)
    return { point, counts, ranking: undefined, gameRanking: undefined, usedAt: 0 }
  }

  /**
   * The point where new walks start: the latest. While the feed cannot be read, it is one that all other processes have
   * read too: they could not load a newer one until the store is available again.
   */
  #startingPoint(now: number): FeedPoint {
    const inTouchAt = this.#inTouchAt?.() ?? now
    if (now - inTouchAt <= OUT_OF_TOUCH_MILLISECONDS) return this.#journal.latest
    return this.#journal.latestAt(inTouchAt - KNOWN_TO_ALL_MILLISECONDS)
  }
}
