import type { Eventual } from '../kit/eventual.ts'
import { networkOf } from '../kit/network.ts'
import { Recent } from '../kit/recent.ts'
import type { Store } from '../store/store.ts'

/**
 * Limits on guessing: wrong passwords, secrets and codes are counted by whom they are about and where they come from, and
 * altogether. An attempt is counted before it is looked at, so that many at once are no way around, and is given back when
 * it was right. A count runs out by itself: a bucket of so many attempts fills up again over a quarter of an hour.
 */
export interface AttemptLimits {
  /** Wrong attempts about one account, client or device in a quarter of an hour. */
  readonly perSubject: number
  readonly perAddress: number
  readonly overall: number
}

const FULL_AGAIN_SECONDS = 15 * 60
const MANY = 50_000

interface Bucket {
  left: number
  at: number
}

/** Who counts: this process for itself, or all on one store together. */
export interface Attempts {
  /** Counts an attempt. False if there were too many already: then it must not be looked at, be it right or wrong. */
  begin(subject: string, address: string): Eventual<boolean>
  /** The attempt was right: it is given back, and the subject's own count begins anew. */
  succeeded(subject: string, address: string): Eventual<void>
}

export class LocalAttempts implements Attempts {
  readonly #limits: AttemptLimits
  readonly #monotonic: () => number
  readonly #buckets = new Recent<Bucket>(MANY)
  readonly #overall: Bucket

  constructor(limits: AttemptLimits, monotonic: () => number = () => performance.now()) {
    this.#limits = limits
    this.#monotonic = monotonic
    this.#overall = { left: limits.overall, at: monotonic() }
  }

  begin(subject: string, address: string): boolean {
    const buckets: Bucket[] = []
    // The widest first: whoever is over it cannot even fill memory with names.
    for (const bucketOf of this.#levels(subject, address)) {
      const bucket = bucketOf()
      if (bucket.left < 1) return false
      buckets.push(bucket)
    }
    for (const bucket of buckets) bucket.left -= 1
    return true
  }

  succeeded(subject: string, address: string): void {
    for (const bucketOf of this.#levels(subject, address)) bucketOf().left += 1
    this.#buckets.delete(`subject ${subject}`)
  }

  #levels(subject: string, address: string): (() => Bucket)[] {
    const { perSubject, perAddress, overall } = this.#limits
    return [
      () => refilled(this.#overall, overall, this.#monotonic()),
      () => this.#bucket(`address ${networkOf(address)}`, perAddress),
      () => this.#bucket(`subject ${subject}`, perSubject),
    ]
  }

  #bucket(name: string, limit: number): Bucket {
    const now = this.#monotonic()
    const known = this.#buckets.get(name)
    if (known !== undefined) return refilled(known, limit, now)
    const bucket = { left: limit, at: now }
    this.#buckets.set(name, bucket)
    return bucket
  }
}

function refilled(bucket: Bucket, limit: number, now: number): Bucket {
  bucket.left = Math.min(limit, bucket.left + ((now - bucket.at) * limit) / (FULL_AGAIN_SECONDS * 1000))
  bucket.at = now
  return bucket
}

/** The same buckets in the store, where several processes count: guessing at all of them gains nothing. */
export class SharedAttempts implements Attempts {
  readonly #limits: AttemptLimits
  readonly #store: Store

  constructor(limits: AttemptLimits, store: Store) {
    this.#limits = limits
    this.#store = store
  }

  begin(subject: string, address: string): Promise<boolean> {
    return this.#store.commands.takeFromAll({ buckets: this.#buckets(subject, address) })
  }

  succeeded(subject: string, address: string): Promise<void> {
    const buckets = this.#buckets(subject, address)
    return this.#store.commands.giveBack({ buckets, filled: [`attempts ${subject}`] })
  }

  #buckets(subject: string, address: string) {
    const { perSubject, perAddress, overall } = this.#limits
    return [
      { name: 'attempts', capacity: overall },
      { name: `attempts from ${networkOf(address)}`, capacity: perAddress },
      { name: `attempts ${subject}`, capacity: perSubject },
    ].map(bucket => ({ ...bucket, fullAfterSeconds: FULL_AGAIN_SECONDS }))
  }
}
