import type { Caller } from '../domain/caller.ts'
import { andThen, type Eventual } from '../kit/eventual.ts'
import type { Figures } from '../kit/figures.ts'
import { Recent } from '../kit/recent.ts'
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

/** The largest share, as part of a minute's points. Who uses up a share at once gets twice as much, who does not gets half. */
const LARGEST_SHARE = 1 / 20
const AT_ONCE_MILLISECONDS = 1000
/** Points that were not used by then are not spent any more: they go back with the next question. */
const KEPT_MILLISECONDS = 2000
/** Where nothing was left, the store is not asked again sooner. */
const REFUSED_MILLISECONDS = 100
const MANY_LEASES = 100_000
/** While the store is away each process counts for itself, with this part of the limit. */
const PART_WHEN_ALONE = 1 / 4
/** How long a request waits for the store to say, and how long it is left alone if it did not. */
const PATIENCE_MILLISECONDS = 300
const AWAY_MILLISECONDS = 1000

/** Points that this process may spend on a caller. */
interface Lease {
  points: number
  /** How many it asks for. */
  share: number
  /** When it was given the last ones; on the monotonic clock, as all here. */
  since: number
  until: number
  refusedUntil: number
  /** What the store had left when it was asked last. */
  left: number
  asking: Promise<void> | undefined
}

/**
 * Rate limits over several processes: the points of a caller are in the store, and each process spends what it leased. The sum
 * never exceeds the limit; a caller who comes to one process alone meets the same limit as one who comes to all.
 */
export class LeasedLimiter implements Limiter {
  readonly #limits: RateLimits
  readonly #store: Store
  readonly #alone: LocalLimiter
  readonly #leases = new Recent<Lease>(MANY_LEASES)
  readonly #asked = { granted: 0, refused: 0, failed: 0 }
  #awayUntil = 0

  constructor(limits: RateLimits, store: Store) {
    this.#limits = limits
    this.#store = store
    const part = (limit: number) => Math.ceil(limit * PART_WHEN_ALONE)
    this.#alone = new LocalLimiter({
      app: part(limits.app),
      user: part(limits.user),
      anonymous: part(limits.anonymous),
    })
  }

  take(caller: Caller, address: () => string): Eventual<Allowance> {
    const limit = limitOf(this.#limits, caller)
    if (limit === 0) return fullBucket(Date.now())
    const name = bucketName(caller, address)
    const lease = this.#lease(name)
    if (spend(lease)) {
      if (lease.points < lease.share / 2 && performance.now() >= this.#awayUntil)
        this.#ask(name, lease, limit).catch(() => undefined)
      return allowance(lease, limit, true)
    }
    if (performance.now() < lease.refusedUntil) return allowance(lease, limit, false)
    if (performance.now() < this.#awayUntil) return this.#alone.take(caller, address)
    return andThen(
      this.#spendAnother(name, lease, limit),
      answer => answer ?? this.#alone.take(caller, address),
    )
  }

  /** Undefined if the store cannot be asked, or does not say: then nobody asks it for a while. */
  async #spendAnother(name: string, lease: Lease, limit: number): Promise<Allowance | undefined> {
    // Others who waited for the same share may have spent it.
    while (!spend(lease)) {
      if (performance.now() < lease.refusedUntil) return allowance(lease, limit, false)
      const asked = this.#ask(name, lease, limit).then(
        () => 'told',
        () => 'away',
      )
      const answer = await Promise.race([asked, Bun.sleep(PATIENCE_MILLISECONDS).then(() => 'away')])
      if (answer === 'away') {
        this.#awayUntil = performance.now() + AWAY_MILLISECONDS
        return undefined
      }
    }
    return allowance(lease, limit, true)
  }

  #ask(name: string, lease: Lease, limit: number): Promise<void> {
    lease.asking ??= this.#renew(name, lease, limit)
      .catch(error => {
        this.#asked.failed += 1
        throw error
      })
      .finally(() => {
        lease.asking = undefined
      })
    return lease.asking
  }

  async #renew(name: string, lease: Lease, limit: number): Promise<void> {
    const asked = performance.now()
    const isUsedUp = lease.points < 1 || asked < lease.until
    const wasQuick = asked - lease.since < AT_ONCE_MILLISECONDS
    const most = Math.max(1, Math.round(limit * LARGEST_SHARE))
    lease.share =
      isUsedUp && wasQuick ? Math.min(most, lease.share * 2) : Math.max(1, Math.floor(lease.share / 2))
    const returned = asked < lease.until ? 0 : lease.points
    lease.points -= returned
    const { granted, left } = await this.#store.commands.leasePoints({
      name,
      capacity: limit,
      fullAfterSeconds: 60,
      wanted: lease.share,
      returned,
    })
    const now = performance.now()
    lease.points += granted
    lease.since = now
    lease.until = now + KEPT_MILLISECONDS
    lease.left = left
    this.#asked[granted === 0 ? 'refused' : 'granted'] += 1
    if (granted === 0) lease.refusedUntil = now + REFUSED_MILLISECONDS
  }

  measure(figures: Figures): void {
    figures.counter(
      'strand_rate_limit_leases_total',
      'Times the store was asked for a share of points, by its answer.',
      Object.entries(this.#asked).map(([outcome, count]) => [{ outcome }, count]),
    )
  }

  #lease(name: string): Lease {
    const known = this.#leases.get(name)
    if (known !== undefined) return known
    const lease = { points: 0, share: 1, since: 0, until: 0, refusedUntil: 0, left: 0, asking: undefined }
    this.#leases.set(name, lease)
    return lease
  }
}

function spend(lease: Lease): boolean {
  if (lease.points < 1 || performance.now() >= lease.until) return false
  lease.points -= 1
  return true
}

function allowance(lease: Lease, limit: number, allowed: boolean): Allowance {
  const remaining = allowed ? Math.min(limit, lease.points + lease.left) : 0
  const secondsToFull = ((limit - remaining) * 60) / limit
  return { allowed, limit, remaining, reset: Math.ceil(Date.now() / 1000 + secondsToFull) }
}
