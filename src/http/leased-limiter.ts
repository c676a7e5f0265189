/**
 * Rate limits over several processes. The points of a caller are in the store, and asking there for every request would turn
 * reads into writes. So each process has a small allowance of its own for every caller, and most callers never need more.
 * One who does is *heavy*: for it the process leases points from the store, and reports what was spent of the allowance.
 *
 * What holds, with n processes and an allowance of a twentieth of the limit:
 * - In one minute a caller gets at most n/20 of the limit on top of it, and only if it comes to a process with an unused
 *   allowance after it has used up its points elsewhere.
 * - That is deducted from what flows in later: over several minutes it gets exactly the limit, as long as n is at most 20.
 * - What it spent while its bucket was full anyway is not deducted: modest use for hours does not count against a burst.
 * - A caller who comes to one process alone meets the same limit as one who comes to all.
 */
import type { Caller } from '../domain/caller.ts'
import { Batcher } from '../kit/batcher.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import type { Metrics } from '../kit/metrics.ts'
import { Recent } from '../kit/recent.ts'
import {
  type BucketSize,
  perMinute,
  refill,
  refilled,
  type TokenBucket,
  takePoint,
} from '../kit/token-buckets.ts'
import type { LeaseGrant, LeaseRequest } from '../store/commands/shared.ts'
import type { Store } from '../store/store.ts'
import {
  type Allowance,
  allowanceOf,
  bucketName,
  bucketOf,
  fullBucket,
  type Limiter,
  LocalLimiter,
  type RateLimits,
  sizesOf,
} from './rate-limit.ts'

/** What a process may spend on a caller without asking the store, as part of a minute's points. It refills within a minute. */
const OWN_PART = 1 / 20
/** The largest lease, as part of a minute's points. A lease that is used up at once doubles the next one, else it is halved. */
const MAX_LEASE = 1 / 20
const AT_ONCE_MILLISECONDS = 1000
/** Leased points that were not spent by then are not spent any more: they go back with the next request. */
const LEASE_MILLISECONDS = 2000
/** Where nothing was left, the store is not asked again sooner. */
const REFUSED_MILLISECONDS = 100
/** A little above 100,000: so many callers in turn each find their account again. */
const MAX_CALLERS = 2 ** 17
const MAX_BATCH = 256
/** While the store is away each process counts for itself, with this part of the limit. */
const PART_WHEN_ALONE = 1 / 4
/** How long a request waits for the store, and how long the store is left alone if it did not answer. */
const MAX_WAIT_MILLISECONDS = 300
const AWAY_MILLISECONDS = 1000

/** What this process knows of a caller: its allowance here as a bucket, and more. Times are on the monotonic clock. */
interface Account extends TokenBucket {
  /** Spent of the allowance, and not reported to the store yet. */
  unreported: number
  /** The part of it that is not older than a bucket takes to refill it. */
  recent: number
  /** Present once the store was asked: the caller is heavy. */
  lease: Lease | undefined
}

interface Lease {
  points: number
  until: number
  /** How many points to ask for. */
  share: number
  refusedUntil: number
  /** When the store granted points last, and what it had left then. */
  grantedAt: number
  left: number
  asking: Promise<void> | undefined
}

/** The limit of a kind of caller, and the part of it that a process may spend by itself. */
interface Sizes {
  readonly whole: BucketSize
  readonly own: BucketSize
}

export class LeasedLimiter implements Limiter {
  readonly #sizes: Readonly<Record<keyof RateLimits, Sizes>>
  readonly #leases: Batcher<LeaseRequest, LeaseGrant>
  readonly #alone: LocalLimiter
  readonly #accounts = new Recent<Account>(MAX_CALLERS)
  readonly #asked = { granted: 0, refused: 0, failed: 0 }
  readonly #maxWait: number
  #awayUntil = 0

  constructor(limits: RateLimits, store: Store, maxWaitMilliseconds = MAX_WAIT_MILLISECONDS) {
    const sizes = sizesOf(limits)
    const withOwn = (whole: BucketSize): Sizes => ({ whole, own: perMinute(ownPartOf(whole.capacity)) })
    this.#sizes = {
      app: withOwn(sizes.app),
      user: withOwn(sizes.user),
      anonymous: withOwn(sizes.anonymous),
    }
    this.#maxWait = maxWaitMilliseconds
    const { fullAfterSeconds } = sizes.app
    this.#leases = new Batcher(
      requests => store.commands.leasePoints({ requests, fullAfterSeconds }),
      MAX_BATCH,
    )
    const part = (limit: number) => Math.ceil(limit * PART_WHEN_ALONE) - ownPartOf(limit)
    this.#alone = new LocalLimiter({
      app: part(limits.app),
      user: part(limits.user),
      anonymous: part(limits.anonymous),
    })
  }

  take(caller: Caller, address: () => string): MaybePromise<Allowance> {
    const sizes = this.#sizes[bucketOf(caller)]
    if (sizes.whole.capacity === 0) return fullBucket(Date.now())
    const name = bucketName(caller, address)
    const now = performance.now()
    const account = this.#account(name, sizes, now)
    if (spend(account, sizes, now)) {
      if (isRunningLow(account, sizes) && now >= this.#awayUntil && !isRefused(account, now))
        this.#ask(caller, name, account, sizes).catch(() => undefined)
      return shown(account, sizes, now, true)
    }
    if (isRefused(account, now)) return shown(account, sizes, now, false)
    if (now < this.#awayUntil) return this.#alone.take(caller, address)
    return chain(
      this.#spendLeased(caller, name, account, sizes),
      answer => answer ?? this.#alone.take(caller, address),
    )
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_rate_limit_leases_total',
      'Leases of points requested from the store, by outcome.',
      Object.entries(this.#asked).map(([outcome, count]) => [{ outcome }, count]),
    )
  }

  /** Undefined if the store does not answer: then it is left alone for a while. */
  async #spendLeased(
    caller: Caller,
    name: string,
    account: Account,
    sizes: Sizes,
  ): Promise<Allowance | undefined> {
    // Other requests that waited for the same lease may have spent it.
    for (;;) {
      const now = performance.now()
      if (spend(account, sizes, now)) return shown(account, sizes, now, true)
      if (isRefused(account, now)) return shown(account, sizes, now, false)
      const asked = this.#ask(caller, name, account, sizes).then(
        () => true,
        () => false,
      )
      const isAnswered = await Promise.race([asked, Bun.sleep(this.#maxWait).then(() => false)])
      if (isAnswered) continue
      this.#awayUntil = performance.now() + AWAY_MILLISECONDS
      return undefined
    }
  }

  #ask(caller: Caller, name: string, account: Account, sizes: Sizes): Promise<void> {
    account.lease ??= {
      points: 0,
      until: 0,
      share: 1,
      refusedUntil: 0,
      grantedAt: 0,
      left: sizes.whole.capacity,
      asking: undefined,
    }
    const { lease } = account
    const storedName = bucketOf(caller) === 'anonymous' ? `address ${name}` : name
    lease.asking ??= this.#lease(storedName, account, lease, sizes.whole.capacity)
      .catch(error => {
        this.#asked.failed += 1
        throw error
      })
      .finally(() => {
        lease.asking = undefined
      })
    return lease.asking
  }

  async #lease(name: string, account: Account, lease: Lease, capacity: number): Promise<void> {
    const asked = performance.now()
    const isUsedUp = lease.points < 1 || asked < lease.until
    const wasQuick = asked - lease.grantedAt < AT_ONCE_MILLISECONDS
    const largest = Math.max(1, Math.round(capacity * MAX_LEASE))
    lease.share =
      isUsedUp && wasQuick ? Math.min(largest, lease.share * 2) : Math.max(1, Math.floor(lease.share / 2))
    const returned = asked < lease.until ? 0 : lease.points
    const { unreported: spent, recent } = account
    lease.points -= returned
    const grant = await this.#leases.ask({ name, capacity, wanted: lease.share, returned, spent, recent })
    const now = performance.now()
    account.unreported -= spent
    account.recent = Math.max(0, account.recent - recent)
    lease.points += grant.granted
    lease.grantedAt = now
    lease.until = now + LEASE_MILLISECONDS
    lease.left = grant.left
    this.#asked[grant.granted === 0 ? 'refused' : 'granted'] += 1
    if (grant.granted === 0) lease.refusedUntil = now + REFUSED_MILLISECONDS
  }

  #account(name: string, { own }: Sizes, now: number): Account {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    const account = { points: own.capacity, at: now, unreported: 0, recent: 0, lease: undefined }
    this.#accounts.set(name, account)
    return account
  }
}

function ownPartOf(limit: number): number {
  return Math.floor(limit * OWN_PART)
}

/** Leased points go first: they end sooner than the allowance. */
function spend(account: Account, { own, whole }: Sizes, now: number): boolean {
  const { lease } = account
  if (lease !== undefined && now < lease.until && takePoint(lease)) return true
  const left = refilled(whole.capacity - account.recent, now - account.at, whole)
  account.recent = whole.capacity - left
  refill(account, now, own)
  if (!takePoint(account)) return false
  account.unreported += 1
  account.recent += 1
  return true
}

function isRefused({ lease }: Account, now: number): boolean {
  return lease !== undefined && now < lease.refusedUntil
}

/** Half of what is at hand is gone: asking now keeps the next requests from waiting. */
function isRunningLow({ points, lease }: Account, { own }: Sizes): boolean {
  const isLeaseLow = lease === undefined || lease.points < lease.share / 2
  return isLeaseLow && points < own.capacity / 2
}

function shown(account: Account, { whole }: Sizes, now: number, allowed: boolean): Allowance {
  const { capacity } = whole
  const { lease, unreported, recent } = account
  let points = capacity - recent
  if (lease !== undefined) {
    const shared = refilled(lease.left, now - lease.grantedAt, whole) - unreported
    points = Math.min(points, shared) + lease.points
  }
  return allowanceOf(allowed, capacity, allowed ? Math.max(0, Math.min(capacity, points)) : 0)
}
