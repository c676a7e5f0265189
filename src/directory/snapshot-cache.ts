import type { FeedPoint } from '../store/feed.ts'
import type { GameRanking } from './game-ranking.ts'
import { KEPT_MILLISECONDS } from './journal.ts'
import type { Ranking } from './ranking.ts'

/** A snapshot that was dropped can be rebuilt from the journal, at some cost. */
const MAX_SNAPSHOTS = 100
/** Maximum number of viewer counts in all snapshots together; each takes twelve bytes, and as many if its game has no other. */
const MAX_COUNTS = 4_000_000

/** All viewer counts at one point of the feed, and the rankings by them once they were used. */
export interface Snapshot {
  readonly point: FeedPoint
  readonly counts: Int32Array
  ranking: Ranking | undefined
  gameRanking: GameRanking | undefined
  usedAt: number
}

/** Recently used snapshots, least recently used first. */
export class SnapshotCache {
  readonly #snapshots = new Map<string, Snapshot>()
  #counts = 0

  get size(): number {
    return this.#snapshots.size
  }

  has(point: FeedPoint): boolean {
    return this.#snapshots.has(pointKey(point))
  }

  find(point: FeedPoint): Snapshot | undefined {
    return this.#snapshots.get(pointKey(point))
  }

  *rankings(): Generator<Ranking> {
    for (const { ranking } of this.#snapshots.values()) if (ranking !== undefined) yield ranking
  }

  /** Adds a snapshot or marks it as used, and drops snapshots that are too old or too many. */
  keep<S extends Snapshot>(snapshot: S, now: number): S {
    const key = pointKey(snapshot.point)
    snapshot.usedAt = now
    if (!this.#snapshots.delete(key)) this.#counts += snapshot.counts.length
    this.#snapshots.set(key, snapshot)
    for (const [oldestKey, oldest] of this.#snapshots) {
      const fits = this.#snapshots.size <= MAX_SNAPSHOTS && this.#counts <= MAX_COUNTS
      if (oldest === snapshot || (fits && now - oldest.usedAt <= KEPT_MILLISECONDS)) break
      this.#snapshots.delete(oldestKey)
      this.#counts -= oldest.counts.length
    }
    return snapshot
  }

  clear(): void {
    this.#snapshots.clear()
    this.#counts = 0
  }
}

const pointKey = ({ seq, nonce }: FeedPoint) => `${seq} ${nonce}`
