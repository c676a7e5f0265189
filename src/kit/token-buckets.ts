import { Recent } from './recent.ts'

interface Bucket {
  points: number
  at: number
}

const MANY_BUCKETS = 100_000
const MINUTE_MILLISECONDS = 60_000

/** The state of a bucket after a point was requested. */
export interface Draw {
  readonly allowed: boolean
  readonly points: number
}

/**
 * Token buckets in memory, by name: a bucket holds a minute's worth of points and refills over a minute. Memory is bounded:
 * a bucket that was evicted because many others were used starts full again.
 */
export class TokenBuckets {
  readonly #now: () => number
  readonly #buckets: Recent<Bucket>

  /** `now` returns milliseconds (default: the monotonic clock). */
  constructor(now: () => number = () => performance.now(), most = MANY_BUCKETS) {
    this.#now = now
    this.#buckets = new Recent(most)
  }

  /** Takes a point from the bucket if it has one. */
  take(name: string, perMinute: number): Draw {
    const bucket = this.#refilled(name, perMinute)
    const allowed = bucket.points >= 1
    if (allowed) bucket.points -= 1
    return { allowed, points: bucket.points }
  }

  #refilled(name: string, perMinute: number): Bucket {
    const now = this.#now()
    const known = this.#buckets.get(name)
    if (known === undefined) {
      const bucket = { points: perMinute, at: now }
      this.#buckets.set(name, bucket)
      return bucket
    }
    const passed = Math.max(0, now - known.at)
    known.points = Math.min(perMinute, known.points + (passed * perMinute) / MINUTE_MILLISECONDS)
    known.at = now
    return known
  }
}

/** Whole seconds until an empty bucket has a point again; at least one. */
export function secondsUntilPoint({ points }: Draw, perMinute: number): number {
  return Math.max(1, Math.ceil(((1 - points) * 60) / perMinute))
}
