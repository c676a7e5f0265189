import type { Caller } from '../domain/caller.ts'

/** Points per minute for each kind of caller; 0 switches the bucket off (D-17). */
export interface RateLimits {
  readonly app: number
  readonly user: number
  readonly anonymous: number
}

/** What the three headers say. */
export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix seconds when the bucket is full again. */
  readonly reset: number
}

interface Bucket {
  points: number
  at: number
}

const SHOWN_WHEN_OFF = 800
const MANY_BUCKETS = 200_000

/** Token buckets in memory. Real time only: the demo's clock neither fills nor empties them. */
export class RateLimiter {
  readonly #limits: RateLimits
  readonly #buckets = new Map<string, Bucket>()

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  /** Takes a point from the caller's bucket, if there is one. */
  take(caller: Caller, address: () => string): Allowance {
    const limit = this.#limitOf(caller)
    const now = Date.now()
    if (limit === 0) return fullBucket(now)
    const bucket = this.#bucket(bucketName(caller, address), limit, now)
    const allowed = bucket.points >= 1
    if (allowed) bucket.points -= 1
    const secondsToFull = ((limit - bucket.points) * 60) / limit
    return {
      allowed,
      limit,
      remaining: Math.floor(bucket.points),
      reset: Math.ceil(now / 1000 + secondsToFull),
    }
  }

  #limitOf(caller: Caller): number {
    if (caller.kind === 'app') return this.#limits.app
    return caller.kind === 'user' ? this.#limits.user : this.#limits.anonymous
  }

  /** Buckets stand in the order of their last use. Where they are too many the oldest go: most of those are full again. */
  #bucket(name: string, limit: number, now: number): Bucket {
    const known = this.#buckets.get(name)
    const bucket = known ?? { points: limit, at: now }
    if (known !== undefined) {
      bucket.points = Math.min(limit, bucket.points + (Math.max(0, now - bucket.at) * limit) / 60_000)
      bucket.at = now
      this.#buckets.delete(name)
    }
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > MANY_BUCKETS) {
      const [oldest] = this.#buckets.keys()
      if (oldest !== undefined) this.#buckets.delete(oldest)
    }
    return bucket
  }
}

let full: Allowance = { allowed: true, limit: SHOWN_WHEN_OFF, remaining: SHOWN_WHEN_OFF, reset: 0 }

/** What is shown where nothing is counted; the same one for a second. */
export function fullBucket(now: number): Allowance {
  const reset = Math.ceil(now / 1000)
  if (full.reset !== reset) full = { ...full, reset }
  return full
}

function bucketName(caller: Caller, address: () => string): string {
  if (caller.kind === 'app') return `app ${caller.client_id}`
  if (caller.kind === 'user') return `user ${caller.client_id} ${caller.user_id}`
  return `address ${networkOf(address())}`
}

/** An IPv6 customer has a whole /64; it counts as one caller. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = ''] = address.split('%')
  const [left = '', right] = head.split('::')
  const start = left === '' ? [] : left.split(':')
  const end = right === undefined || right === '' ? [] : right.split(':')
  const full =
    right === undefined ? start : [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
  return full.slice(0, 4).join(':')
}
