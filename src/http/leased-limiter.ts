/**
 * Rate limits over several processes. The points of a caller are in the store, and asking there for every request would turn
 * reads into writes. So each process has a small allowance of its own for every caller, and most callers never need more.
 * One who does is *heavy*: for it the process leases points from the store, and reports what was spent of the allowance.
 *
 * What holds, with n processes and an allowance of a twentieth of the limit:
 * - In one minute a caller gets at most n/20 of the limit on top of it, and only if it comes to a process with an unused
 *   allowance after it has used up its points elsewhere.
 * - That is deducted from what flows in later: over several minutes it gets exactly the limit, as long as n is at most 20.
 * - A caller who comes to one process alone meets the same limit as one who comes to all.
 */
import type { Caller } from '../domain/caller.ts'
import { Batcher } from '../kit/batcher.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import type { Metrics } from '../kit/metrics.ts'
import { Recent } from '../kit/recent.ts'
import type { LeaseGrant, LeaseRequest } from '../store/commands/shared.ts'
import type { Store } from '../store/store.ts'
import {
  type Allowance,
  bucketName,
  fullBucket,
  type Limiter,
  LocalLimiter,
  limitOf,
  type RateLimits,
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
const MAX_CALLERS = 100_000
const MAX_BATCH = 256
const MINUTE_MILLISECONDS = 60_000
/** While the store is away each process counts for itself, with this part of the limit. */
const PART_WHEN_ALONE = 1 / 4
/** How long a request waits for the store, and how long the store is left alone if it did not answer. */
const MAX_WAIT_MILLISECONDS = 300
const AWAY_MILLISECONDS = 1000

/** What this process knows of a caller; times are on the monotonic clock. */
interface Account {
  /** Left of the process's own allowance, when it was looked at last. */
  own: number
  ownAt: number
  /** Spent of the allowance, and not reported to the store yet. */
  unreported: number
  leased: number
  leaseUntil: number
  leasedAt: number
  /** How many points to ask for. */
  share: number
  refusedUntil: number
  /** What the store had left when it was asked last. A caller it was never asked about has a full bucket. */
  left: number
  leftAt: number
  asking: Promise<void> | undefined
}

export class LeasedLimiter implements Limiter {
  readonly #limits: RateLimits
  readonly #leases: Batcher<LeaseRequest, LeaseGrant>
  readonly #alone: LocalLimiter
  readonly #accounts = new Recent<Account>(MAX_CALLERS)
  readonly #asked = { granted: 0, refused: 0, failed: 0 }
  readonly #maxWait: number
  #awayUntil = 0

  constructor(limits: RateLimits, store: Store, maxWaitMilliseconds = MAX_WAIT_MILLISECONDS) {
    this.#limits = limits
    this.#maxWait = maxWaitMilliseconds
    this.#leases = new Batcher(
      requests => store.commands.leasePoints({ requests, fullAfterSeconds: MINUTE_MILLISECONDS / 1000 }),
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
    const limit = limitOf(this.#limits, caller)
    if (limit === 0) return fullBucket(Date.now())
    const name = bucketName(caller, address)
    const now = performance.now()
    const account = this.#account(name, limit, now)
    if (spend(account, limit, now)) {
      if (isRunningLow(account, limit) && now >= this.#awayUntil && now >= account.refusedUntil)
        this.#ask(name, account, limit).catch(() => undefined)
      return allowance(account, limit, now, true)
    }
    if (now < account.refusedUntil) return allowance(account, limit, now, false)
    if (now < this.#awayUntil) return this.#alone.take(caller, address)
    return chain(
      this.#spendLeased(name, account, limit),
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
  async #spendLeased(name: string, account: Account, limit: number): Promise<Allowance | undefined> {
    // Other requests that waited for the same lease may have spent it.
    for (;;) {
      const now = performance.now()
      if (spend(account, limit, now)) return allowance(account, limit, now, true)
      if (now < account.refusedUntil) return allowance(account, limit, now, false)
      const asked = this.#ask(name, account, limit).then(
        () => true,
        () => false,
      )
      const isAnswered = await Promise.race([asked, Bun.sleep(this.#maxWait).then(() => false)])
      if (isAnswered) continue
      this.#awayUntil = performance.now() + AWAY_MILLISECONDS
      return undefined
    }
  }

  #ask(name: string, account: Account, limit: number): Promise<void> {
    account.asking ??= this.#lease(name, account, limit)
      .catch(error => {
        this.#asked.failed += 1
        throw error
      })
      .finally(() => {
        account.asking = undefined
      })
    return account.asking
  }

  async #lease(name: string, account: Account, limit: number): Promise<void> {
    const asked = performance.now()
    const isUsedUp = account.leased < 1 || asked < account.leaseUntil
    const wasQuick = asked - account.leasedAt < AT_ONCE_MILLISECONDS
    const largest = Math.max(1, Math.round(limit * MAX_LEASE))
    account.share =
      isUsedUp && wasQuick ? Math.min(largest, account.share * 2) : Math.max(1, Math.floor(account.share / 2))
    const returned = asked < account.leaseUntil ? 0 : account.leased
    const spent = account.unreported
    account.leased -= returned
    const grant = await this.#leases.ask({ name, capacity: limit, wanted: account.share, returned, spent })
    const now = performance.now()
    account.unreported -= spent
    account.leased += grant.granted
    account.leasedAt = now
    account.leaseUntil = now + LEASE_MILLISECONDS
    account.left = grant.left
    account.leftAt = now
    this.#asked[grant.granted === 0 ? 'refused' : 'granted'] += 1
    if (grant.granted === 0) account.refusedUntil = now + REFUSED_MILLISECONDS
  }

  #account(name: string, limit: number, now: number): Account {
    const known = this.#accounts.get(name)
    if (known !== undefined) return known
    const account: Account = {
      own: ownPartOf(limit),
      ownAt: now,
      unreported: 0,
      leased: 0,
      leaseUntil: 0,
      leasedAt: 0,
      share: 1,
      refusedUntil: 0,
      left: limit,
      leftAt: now,
      asking: undefined,
    }
    this.#accounts.set(name, account)
    return account
  }
}

function ownPartOf(limit: number): number {
  return Math.floor(limit * OWN_PART)
}

/** Leased points go first: they end sooner than the allowance. */
function spend(account: Account, limit: number, now: number): boolean {
  if (account.leased >= 1 && now < account.leaseUntil) {
    account.leased -= 1
    return true
  }
  const most = ownPartOf(limit)
  account.own = Math.min(most, account.own + ((now - account.ownAt) * most) / MINUTE_MILLISECONDS)
  account.ownAt = now
  if (account.own < 1) return false
  account.own -= 1
  account.unreported += 1
  return true
}

/** Half of what is at hand is gone: asking now keeps the next requests from waiting. */
function isRunningLow(account: Account, limit: number): boolean {
  return account.leased < account.share / 2 && account.own < ownPartOf(limit) / 2
}

function allowance(account: Account, limit: number, now: number, allowed: boolean): Allowance {
  const refilled = ((now - account.leftAt) * limit) / MINUTE_MILLISECONDS
  const points = Math.min(limit, account.left + refilled) + account.leased - account.unreported
  const remaining = allowed ? Math.max(0, Math.min(limit, Math.floor(points))) : 0
  const secondsToFull = ((limit - remaining) * 60) / limit
  return { allowed, limit, remaining, reset: Math.ceil(Date.now() / 1000 + secondsToFull) }
}
