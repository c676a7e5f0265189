/**
 * Rate limits shared by several processes (D-17).
 *
 * The problem: a caller may spread its requests over all processes, so its points must be counted in one place. But taking
 * every point in the store would turn each read into a write. The solution has two parts:
 *
 * 1. Each process grants every caller a small local allowance, a twentieth of the limit, which refills within a minute.
 *    Most callers never need more, and cost the store nothing.
 * 2. For a caller that needs more, the process leases points from the bucket in the store, and reports with the same
 *    request what was spent from the allowance. Leases double while they are used up within a second, and halve otherwise.
 *
 *     request --> leased point? --> local allowance? --> lease from the store --> 429
 *                     |                  |                   |          |
 *                     '------ allowed ---'------ allowed ----'          '-- no answer: local fallback
 *
 * | State | What happens |
 * |---|---|
 * | local | The caller has spent less than half of its allowance; the store does not know of it. |
 * | leasing | Leased points are spent first. They expire after 2 s and are returned with the next request for a lease. |
 * | refused | The bucket in the store is empty. The caller gets 429, and the store is not asked again for 0.1 s. |
 * | fallback | The store did not answer within 0.3 s. For 1 s this process counts alone, with a quarter of the limit. |
 *
 * What must hold, with n processes:
 * - In one minute a caller can exceed the limit by at most n/20 of it, and only by turning to processes with an unused
 *   allowance after its points are spent elsewhere.
 * - The excess is deducted from later refills: over several minutes a caller gets exactly the limit, if n does not
 *   exceed 20.
 * - Points spent while the bucket was full are not deducted: hours of modest use do not count against a burst. That is
 *   why an account counts `recent` points beside all `unreported` ones.
 * - A caller that uses one process has the same limit as one that uses all.
 * - A request waits for the store only if the caller has no point left here. When half of the lease and half of the
 *   allowance are spent, the lease is renewed in the background.
 */
import type { Caller } from '../../domain/caller.ts'
import { Batcher } from '../../kit/queues/batcher.ts'
import {
  type BucketSize,
  perMinute,
  refill,
  refilled,
  type TokenBucket,
  takePoint,
} from '../../kit/queues/token-buckets.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import type { LeaseGrant, LeaseRequest } from '../../store/commands/rate-buckets.ts'
import type { Store } from '../../store/store.ts'
import {
  type Allowance,
  bucketName,
  bucketSizes,
  callerBucket,
  fullBucket,
  type Limiter,
  LocalLimiter,
  PerCaller,
  type RateLimits,
  toAllowance,
} from './rate-limit.ts'

/** The local allowance, as a fraction of a minute's points. It refills within a minute. */
const LOCAL_FRACTION = 1 / 20
/** The largest lease, as a fraction of a minute's points. Each is twice the last if that was used up quickly, else half. */
const MAX_LEASE = 1 / 20
const QUICK_MILLISECONDS = 1000
/** Points not spent within this time expire and are returned with the next lease request. */
const LEASE_MILLISECONDS = 2000
/** Minimum time between lease requests after one was refused. */
const REFUSED_MILLISECONDS = 100
const MAX_BATCH = 256
/** While the store is unavailable each process counts locally, with this fraction of the limit. */
const FALLBACK_FRACTION = 1 / 4
/** How long a request waits for the store, and the pause before the next attempt after a timeout. */
const MAX_WAIT_MILLISECONDS = 300
const UNAVAILABLE_MILLISECONDS = 1000

/** The state of a caller in this process; the bucket is its local allowance. Times are on the monotonic clock. */
interface Account extends TokenBucket {
  /** Points spent from the allowance and not yet reported to the store. */
  unreported: number
  /** The unreported points that a bucket of full size would not have refilled in the meantime. */
  recent: number
  /** Present for heavy callers, once a lease was requested. */
  lease: Lease | undefined
}

interface Lease {
  points: number
  until: number
  /** How many points to request. */
  share: number
  refusedUntil: number
  /** When the store last granted points, and how many remained there. */
  grantedAt: number
  left: number
  renewing: Promise<void> | undefined
}

/** The limit of a kind of caller, and the local allowance. */
interface Sizes {
  readonly whole: BucketSize
  readonly local: BucketSize
}

export class LeasedLimiter implements Limiter {
  readonly #sizes: Readonly<Record<keyof RateLimits, Sizes>>
  readonly #leases: Batcher<LeaseRequest, LeaseGrant>
  readonly #fallback: LocalLimiter
  readonly #accounts = new PerCaller<Account>()
  readonly #outcomes = { granted: 0, refused: 0, failed: 0 }
  readonly #maxWait: number
  #unavailableUntil = 0

  constructor(limits: RateLimits, store: Store, maxWaitMilliseconds = MAX_WAIT_MILLISECONDS) {
    const sizes = bucketSizes(limits)
    const withLocal = (whole: BucketSize): Sizes => ({ whole, local: perMinute(localPart(whole.capacity)) })
    this.#sizes = {
      app: withLocal(sizes.app),
      user: withLocal(sizes.user),
      anonymous: withLocal(sizes.anonymous),
    }
    this.#maxWait = maxWaitMilliseconds
    const { fullAfterSeconds } = sizes.app
    this.#leases = new Batcher(
      requests => store.commands.leasePoints({ requests, fullAfterSeconds }),
      MAX_BATCH,
    )
    const fallback = (limit: number) => Math.ceil(limit * FALLBACK_FRACTION) - localPart(limit)
    this.#fallback = new LocalLimiter({
      app: fallback(limits.app),
      user: fallback(limits.user),
      anonymous: fallback(limits.anonymous),
    })
  }

  async take(caller: Caller, address: () => string): Promise<Allowance> {
    const local = this.takeLocally(caller, address)
    if (local !== undefined) return local
    const sizes = this.#sizes[callerBucket(caller)]
    const account = this.#accounts.get(caller, address, () => newAccount(sizes, performance.now()))
    const leased = await this.#spendLeased(caller, address, account, sizes)
    return leased ?? this.#fallback.takeLocally(caller, address)
  }

  takeLocally(caller: Caller, address: () => string): Allowance | undefined {
    const sizes = this.#sizes[callerBucket(caller)]
    if (sizes.whole.capacity === 0) return fullBucket(Date.now())
    const now = performance.now()
    const account = this.#accounts.get(caller, address, () => newAccount(sizes, now))
    if (spend(account, sizes, now)) {
      if (isRunningLow(account, sizes) && now >= this.#unavailableUntil && !isRefused(account, now))
        this.#renew(caller, address, account, sizes).catch(() => undefined)
      return currentAllowance(account, sizes, now, true)
    }
    if (isRefused(account, now)) return currentAllowance(account, sizes, now, false)
    return now < this.#unavailableUntil ? this.#fallback.takeLocally(caller, address) : undefined
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_rate_limit_leases_total',
      'Leases of points requested from the store, by outcome.',
      Object.entries(this.#outcomes).map(([outcome, count]) => [{ outcome }, count]),
    )
  }

  /** Undefined if the store does not respond in time; the limiter then pauses its requests for a while. */
  async #spendLeased(
    caller: Caller,
    address: () => string,
    account: Account,
    sizes: Sizes,
  ): Promise<Allowance | undefined> {
    // Repeat: other requests waiting for the same lease may have spent it.
    for (;;) {
      const now = performance.now()
      if (spend(account, sizes, now)) return currentAllowance(account, sizes, now, true)
      if (isRefused(account, now)) return currentAllowance(account, sizes, now, false)
      const renewed = this.#renew(caller, address, account, sizes).then(
        () => true,
        () => false,
      )
      const hasResponse = await Promise.race([renewed, Bun.sleep(this.#maxWait).then(() => false)])
      if (hasResponse) continue
      this.#unavailableUntil = performance.now() + UNAVAILABLE_MILLISECONDS
      return undefined
    }
  }

  #renew(caller: Caller, address: () => string, account: Account, sizes: Sizes): Promise<void> {
    account.lease ??= {
      points: 0,
      until: 0,
      share: 1,
      refusedUntil: 0,
      grantedAt: 0,
      left: sizes.whole.capacity,
      renewing: undefined,
    }
    const { lease } = account
    const name = bucketName(caller, address)
    const storedName = callerBucket(caller) === 'anonymous' ? `address ${name}` : name
    lease.renewing ??= this.#lease(storedName, account, lease, sizes.whole.capacity)
      .catch(error => {
        this.#outcomes.failed += 1
        throw error
      })
      .finally(() => {
        lease.renewing = undefined
      })
    return lease.renewing
  }

  async #lease(name: string, account: Account, lease: Lease, capacity: number): Promise<void> {
    const requestedAt = performance.now()
    const isUsedUp = lease.points < 1 || requestedAt < lease.until
    const wasQuick = requestedAt - lease.grantedAt < QUICK_MILLISECONDS
    const maxShare = Math.max(1, Math.round(capacity * MAX_LEASE))
    lease.share =
      isUsedUp && wasQuick ? Math.min(maxShare, lease.share * 2) : Math.max(1, Math.floor(lease.share / 2))
    const returned = requestedAt < lease.until ? 0 : lease.points
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
    this.#outcomes[grant.granted === 0 ? 'refused' : 'granted'] += 1
    if (grant.granted === 0) lease.refusedUntil = now + REFUSED_MILLISECONDS
  }
}

const newAccount = ({ local }: Sizes, now: number): Account => ({
  points: local.capacity,
  at: now,
  unreported: 0,
  recent: 0,
  lease: undefined,
})

function localPart(limit: number): number {
  return Math.floor(limit * LOCAL_FRACTION)
}

/** Spends leased points first: they expire, the allowance does not. */
function spend(account: Account, { local, whole }: Sizes, now: number): boolean {
  const { lease } = account
  if (lease !== undefined && now < lease.until && takePoint(lease)) return true
  const left = refilled(whole.capacity - account.recent, now - account.at, whole)
  account.recent = whole.capacity - left
  refill(account, now, local)
  if (!takePoint(account)) return false
  account.unreported += 1
  account.recent += 1
  return true
}

function isRefused({ lease }: Account, now: number): boolean {
  return lease !== undefined && now < lease.refusedUntil
}

/** Half of the points are spent: renewing the lease now saves the next requests from waiting. */
function isRunningLow({ points, lease }: Account, { local }: Sizes): boolean {
  const isLeaseLow = lease === undefined || lease.points < lease.share / 2
  return isLeaseLow && points < local.capacity / 2
}

function currentAllowance(account: Account, { whole }: Sizes, now: number, allowed: boolean): Allowance {
  const { capacity } = whole
  const { lease, unreported, recent } = account
  let points = capacity - recent
  if (lease !== undefined) {
    const shared = refilled(lease.left, now - lease.grantedAt, whole) - unreported
    points = Math.min(points, shared) + lease.points
  }
  return toAllowance(allowed, capacity, allowed ? Math.max(0, Math.min(capacity, points)) : 0)
}
