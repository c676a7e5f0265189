/**
 * Rate limits of one process, and what they have in common with the shared limits of `leased-limiter.ts` (D-17).
 *
 * Every caller has a bucket of points, and a request takes one. A bucket holds the points of a minute and refills
 * continuously, so a caller may use the whole minute in a burst and then continues at the steady rate.
 *
 * | Caller | Has the bucket of |
 * |---|---|
 * | app token | its client |
 * | user token | its client and user |
 * | any other, and visitors of the site (D-150) | its network: an IPv4 address or an IPv6 /64 |
 *
 * What must hold:
 * - Buckets are filled by the monotonic clock: neither the demo clock nor a change of the system clock adds points.
 * - Memory is bounded. The buckets of the callers that were used least recently are dropped, and start full again.
 */
import { type Caller, isTokenCaller, isVisitor } from '../../domain/caller.ts'
import { LruCache } from '../../kit/lru-cache.ts'
import { toNetwork } from '../../kit/network.ts'
import {
  type BucketSize,
  perMinute,
  refill,
  type TokenBucket,
  takePoint,
} from '../../kit/queues/token-buckets.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'

/** Points per minute for each kind of caller; 0 disables the limit (D-17). */
export interface RateLimits {
  readonly app: number
  readonly user: number
  readonly anonymous: number
}

/** The values of the three `Ratelimit-*` headers. */
export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix seconds when the bucket is full again. */
  readonly reset: number
}

const SHOWN_WHEN_OFF = 800

export interface Limiter {
  /** Takes a point from the caller's bucket, unless it is empty. */
  take(caller: Caller, address: () => string): Promise<Allowance>
  /** The same without asking the store; undefined, and nothing is taken, if the store has to be asked. */
  takeLocally(caller: Caller, address: () => string): Allowance | undefined
  /** Only limits shared by several processes have metrics. */
  measure(metrics: Metrics): void
}

/** The limits of a server that consists of one process. */
export class LocalLimiter implements Limiter {
  readonly #sizes: BucketSizes
  readonly #buckets = new PerCaller<TokenBucket>()
  readonly #now: () => number

  constructor(limits: RateLimits, monotonic = () => performance.now()) {
    this.#sizes = bucketSizes(limits)
    this.#now = monotonic
  }

  async take(caller: Caller, address: () => string): Promise<Allowance> {
    return this.takeLocally(caller, address)
  }

  takeLocally(caller: Caller, address: () => string): Allowance {
    const size = this.#sizes[callerBucket(caller)]
    if (size.capacity === 0) return fullBucket(Date.now())
    const now = this.#now()
    const bucket = this.#buckets.get(caller, address, () => ({ points: size.capacity, at: now }))
    refill(bucket, now, size)
    const allowed = takePoint(bucket)
    return toAllowance(allowed, size.capacity, bucket.points)
  }

  measure(): void {}
}

type BucketSizes = Readonly<Record<keyof RateLimits, BucketSize>>

export function bucketSizes({ app, user, anonymous }: RateLimits): BucketSizes {
  return { app: perMinute(app), user: perMinute(user), anonymous: perMinute(anonymous) }
}

/** The allowance of a bucket with this many points per minute and this many left. */
export function toAllowance(allowed: boolean, limit: number, points: number): Allowance {
  const secondsToFull = ((limit - points) * 60) / limit
  const reset = Math.ceil(Date.now() / 1000 + secondsToFull)
  return { allowed, limit, remaining: Math.floor(points), reset }
}

/** The kind of bucket that a caller draws from. */
export function callerBucket(caller: Caller): keyof RateLimits {
  return isTokenCaller(caller) && !isVisitor(caller) ? caller.kind : 'anonymous'
}

let full: Allowance = { allowed: true, limit: SHOWN_WHEN_OFF, remaining: SHOWN_WHEN_OFF, reset: 0 }

/** The allowance where nothing is counted. Reused for a second. */
export function fullBucket(now: number): Allowance {
  const reset = Math.ceil(now / 1000)
  if (full.reset !== reset) full = { ...full, reset }
  return full
}

/** A little above 100,000, so that this many callers in rotation all stay in memory. */
const MAX_CALLERS = 2 ** 17

/**
 * A value for each caller, such as its bucket. All requests with a token have the same caller object, so the value is mostly
 * found by that object, without building the name of the bucket.
 */
export class PerCaller<Kept> {
  readonly #byName = new LruCache<Kept>(MAX_CALLERS)
  readonly #found = new WeakMap<Caller, { readonly kept: Kept; readonly generation: number }>()

  get(caller: Caller, address: () => string, create: () => Kept): Kept {
    const found = this.#found.get(caller)
    if (found !== undefined && found.generation === this.#byName.generation) return found.kept
    const name = bucketName(caller, address)
    const known = this.#byName.get(name)
    const kept = known ?? create()
    if (known === undefined) this.#byName.set(name, kept)
    // All anonymous callers are one object, whatever their address, and so are all visitors.
    if (callerBucket(caller) !== 'anonymous')
      this.#found.set(caller, { kept, generation: this.#byName.generation })
    return kept
  }
}

/** The name of a caller's bucket. The name of a network contains no space, unlike the others, so names cannot collide. */
export function bucketName(caller: Caller, address: () => string): string {
  if (!isTokenCaller(caller) || isVisitor(caller)) return toNetwork(address())
  return caller.kind === 'app' ? `app ${caller.client_id}` : `user ${caller.client_id} ${caller.user_id}`
}

/** Seconds until an empty bucket has a point again, rounded up (D-17). */
export function secondsPerPoint(allowance: Allowance | undefined): number {
  return Math.max(1, Math.ceil(60 / (allowance?.limit ?? 60)))
}
