import { LruCache } from '../lru-cache.ts'

/** How many points a bucket holds, and how long it takes to fill an empty one. */
export interface BucketSize {
  readonly capacity: number
  readonly fullAfterSeconds: number
}

/** The points of a bucket, as of a time on the clock of its owner. */
export interface TokenBucket {
  points: number
  at: number
}

/** The points of a bucket after some milliseconds. A clock that was set back adds none. */
export function refilled(points: number, passed: number, size: BucketSize): number {
  const { capacity, fullAfterSeconds } = size
  return Math.min(capacity, points + (Math.max(0, passed) * capacity) / (fullAfterSeconds * 1000))
}

export function refill(bucket: TokenBucket, now: number, size: BucketSize): void {
  bucket.points = refilled(bucket.points, now - bucket.at, size)
  bucket.at = now
}

/** Takes a point; false if there is none. */
export function takePoint(bucket: Pick<TokenBucket, 'points'>): boolean {
  if (bucket.points < 1) return false
  bucket.points -= 1
  return true
}

export const perMinute = (capacity: number): BucketSize => ({ capacity, fullAfterSeconds: 60 })

/** More than 100,000 callers keep their buckets; a power of two wastes no memory of the map. */
const MANY_BUCKETS = 2 ** 17

/** Token buckets in memory, by name. Memory is bounded: a bucket evicted because many others were used starts full again. */
export class TokenBuckets {
  readonly #now: () => number
  readonly #buckets: LruCache<TokenBucket>

  /** `now` returns milliseconds (default: the monotonic clock). */
  constructor(now: () => number = () => performance.now(), most = MANY_BUCKETS) {
    this.#now = now
    this.#buckets = new LruCache(most)
  }

  /** The bucket, refilled. All calls with the same name must pass the same size. */
  get(name: string, size: BucketSize): TokenBucket {
    const now = this.#now()
    const known = this.#buckets.get(name)
    if (known === undefined) {
      const bucket = { points: size.capacity, at: now }
      this.#buckets.set(name, bucket)
      return bucket
    }
    refill(known, now, size)
    return known
  }
}

/** Whole seconds until an empty bucket has a point again; at least one. */
export function secondsUntilPoint({ points }: TokenBucket, size: BucketSize): number {
  return Math.max(1, Math.ceil(((1 - points) * size.fullAfterSeconds) / size.capacity))
}
