import type { FeedPoint } from '../store/feed.ts'
import { KEPT_MILLISECONDS } from './journal.ts'
import type { Ranking } from './ranking.ts'

/** The cache is a convenience: a snapshot that was dropped can be made again from the journal, at some cost. */
const MAX_SNAPSHOTS = 100
/** The most viewer counts in all of them together; each takes twelve bytes. */
const MAX_COUNTS = 4_000_000

/** All viewer counts at one point of the feed, and the ranking by them once it was needed. */
export interface Snapshot {
  readonly point: FeedPoint
  readonly counts: Int32Array
  ranking: Ranking | undefined
  usedAt: number
}

/** Recently used snapshots, in the order of their use. */
export class SnapshotCache {
  readonly #kept = new Map<string, Snapshot>()
  #counts = 0

  get size(): number {
    return this.#kept.size
  }

  has(point: FeedPoint): boolean {
    return this.#kept.has(keyOf(point))
  }

  find(point: FeedPoint): Snapshot | undefined {
    return this.#kept.get(keyOf(point))
  }

  *rankings(): Generator<Ranking> {
    for (const { ranking } of this.#kept.values()) if (ranking !== undefined) yield ranking
  }

  /** Adds a snapshot, or notes its use, and drops what is old or too much. */
  keep<S extends Snapshot>(snapshot: S, now: number): S {
    const key = keyOf(snapshot.point)
    snapshot.usedAt = now
    if (!this.#kept.delete(key)) this.#counts += snapshot.counts.length
    this.#kept.set(key, snapshot)
    for (const [oldestKey, oldest] of this.#kept) {
      const fits = this.#kept.size <= MAX_SNAPSHOTS && this.#counts <= MAX_COUNTS
      if (oldest === snapshot || (fits && now - oldest.usedAt <= KEPT_MILLISECONDS)) break
      this.#kept.delete(oldestKey)
      this.#counts -= oldest.counts.length
    }
    return snapshot
  }

  clear(): void {
    this.#kept.clear()
    this.#counts = 0
  }
}

const keyOf = ({ seq, nonce }: FeedPoint) => `${seq} ${nonce}`
