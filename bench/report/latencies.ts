/**
 * How long answers took, counted in buckets that grow by one percent each. Nothing is kept per answer and nothing is
 * sorted, so that counting does not hold up the process that measures; the price is an error of one percent.
 */
export class Latencies {
  readonly #counts: number[]

  constructor(counts: readonly number[] = []) {
    this.#counts = Array.from({ length: BUCKETS }, (_, bucket) => counts[bucket] ?? 0)
  }

  add(milliseconds: number): void {
    const bucket = Math.ceil(Math.log(Math.max(milliseconds, SHORTEST) / SHORTEST) / Math.log(GROWTH))
    const within = Math.min(bucket, BUCKETS - 1)
    this.#counts[within] = (this.#counts[within] ?? 0) + 1
  }

  /** All of them in one. */
  static together(several: readonly Latencies[]): Latencies {
    return new Latencies(
      Array.from({ length: BUCKETS }, (_, bucket) =>
        several.reduce((sum, each) => sum + (each.#counts[bucket] ?? 0), 0),
      ),
    )
  }

  get size(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  /** The milliseconds that this share of the answers did not exceed. */
  quantile(share: number): number {
    let left = this.size * share
    if (left === 0) return Number.NaN
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return SHORTEST * GROWTH ** bucket
    }
    return LONGEST
  }

  /** The counts, for the constructor on the other side of a pipe. */
  toJSON(): readonly number[] {
    return this.#counts.slice(0, this.#counts.findLastIndex(count => count > 0) + 1)
  }
}

const SHORTEST = 0.01
const LONGEST = 60_000
const GROWTH = 1.01
const BUCKETS = Math.ceil(Math.log(LONGEST / SHORTEST) / Math.log(GROWTH)) + 1
