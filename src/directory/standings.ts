import type { FeedPoint } from '../store/feed.ts'
import { KEPT_MILLISECONDS } from './journal.ts'
import type { Ranking } from './ranking.ts'

/** Kept standings are a convenience: what is dropped can be made again from the journal, at some cost. */
const MAX_STANDINGS = 100
/** The most streams in all kept standings together; each takes twelve bytes. */
const MAX_KEPT_STREAMS = 4_000_000

/** All viewer counts at one point of the feed, and the ranking by them once it was asked for. */
export interface Standing {
  readonly point: FeedPoint
  readonly counts: Int32Array
  ranking: Ranking | undefined
  usedAt: number
}

export type Ranked = Standing & { ranking: Ranking }

/** Standings that were used of late, in the order of their use. */
export class Standings {
  readonly #kept = new Map<string, Standing>()
  #streams = 0

  get size(): number {
    return this.#kept.size
  }

  has(point: FeedPoint): boolean {
    return this.#kept.has(nameOf(point))
  }

  find(point: FeedPoint): Standing | undefined {
    return this.#kept.get(nameOf(point))
  }

  /** Those that have a ranking. */
  *rankings(): Generator<Ranking> {
    for (const { ranking } of this.#kept.values()) if (ranking !== undefined) yield ranking
  }

  /** Puts a standing at the end of the line; from its front, what is old or too much is dropped. */
  keep<S extends Standing>(standing: S, now: number): S {
    const name = nameOf(standing.point)
    standing.usedAt = now
    if (!this.#kept.delete(name)) this.#streams += standing.counts.length
    this.#kept.set(name, standing)
    for (const [oldestName, oldest] of this.#kept) {
      const fits = this.#kept.size <= MAX_STANDINGS && this.#streams <= MAX_KEPT_STREAMS
      if (oldest === standing || (fits && now - oldest.usedAt <= KEPT_MILLISECONDS)) break
      this.#kept.delete(oldestName)
      this.#streams -= oldest.counts.length
    }
    return standing
  }

  clear(): void {
    this.#kept.clear()
    this.#streams = 0
  }
}

const nameOf = ({ seq, nonce }: FeedPoint) => `${seq} ${nonce}`
