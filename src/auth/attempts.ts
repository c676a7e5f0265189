/**
 * Limits on guessing passwords, secrets and codes. An attempt is counted before it is checked, so that parallel attempts
 * cannot bypass the limits, and is given back if it succeeds or could not be checked.
 *
 * The target of an attempt is its subject: an account, a client or a device. Attempts are counted
 *
 * - per network, over all subjects, so that one network cannot try a password on every account;
 * - per subject and network: a network that guesses at an account is locked out of it, and other networks are not;
 * - per subject, over all networks, so that many addresses give no advantage. One network cannot use this limit up for the
 *   others: the limit per subject and network is lower, and refills more slowly.
 *
 * Many networks together can use up the limit per subject and keep it used up. A browser that logged in to the account
 * before therefore has a separate limit: the owner can log in during an attack.
 */

import { sha256Hex } from '../kit/crypto/digest.ts'
import { toNetwork, toSite } from '../kit/network.ts'
import { type BucketSize, type TokenBucket, TokenBuckets, takePoint } from '../kit/queues/token-buckets.ts'
import type { Store } from '../store/store.ts'

interface Limits {
  /** An IPv6 site is a /48; IPv4 has none. */
  readonly perSite: BucketSize
  readonly perNetwork: BucketSize
  readonly perSubjectAndNetwork: BucketSize
  readonly perSubject: BucketSize
  readonly perKnownBrowser: BucketSize
}

export interface AttemptLimits extends Limits {
  /** The kind of attempt. Each kind is counted separately. */
  readonly what: string
}

const inQuarterOfAnHour = (capacity: number): BucketSize => ({ capacity, fullAfterSeconds: 15 * 60 })

/** For client secrets and device codes: they are long, and cheap to check. */
export const SECRET_LIMITS: AttemptLimits = {
  what: 'secret',
  perSite: inQuarterOfAnHour(400),
  perNetwork: inQuarterOfAnHour(100),
  perSubjectAndNetwork: inQuarterOfAnHour(10),
  perSubject: inQuarterOfAnHour(30),
  perKnownBrowser: inQuarterOfAnHour(10),
}

/** In any minute, at most ten attempts by unknown browsers on one account are checked: 8 at once, and 2 from the refill. */
export const LOGIN_LIMITS: AttemptLimits = {
  ...SECRET_LIMITS,
  what: 'login',
  perSubjectAndNetwork: inQuarterOfAnHour(5),
  perSubject: { capacity: 8, fullAfterSeconds: 4 * 60 },
}

/** Sign-ups are not guesses: their subject is a network, and a few attempts may fail because a name is taken. */
export const SIGN_UP_LIMITS: AttemptLimits = {
  ...SECRET_LIMITS,
  what: 'sign-up',
  perSubject: inQuarterOfAnHour(10),
}

/** Counts attempts, either in this process or for all processes on one store. */
export interface Attempts {
  /** Counts an attempt. False if there were too many: then it must not be checked at all. */
  begin(subject: string, address: string, knownBrowser?: string): boolean | Promise<boolean>
  /** The attempt succeeded: it is given back, and this network or browser starts again with a full limit. */
  succeeded(subject: string, address: string, knownBrowser?: string): void | Promise<void>
  /** The attempt was not checked: it is given back. */
  giveBack(subject: string, address: string, knownBrowser?: string): void | Promise<void>
}

/** The subject and the origin of an attempt: the arguments of `Attempts`. */
export type Attempt = Parameters<Attempts['begin']>

/**
 * Counts and checks an attempt. `check` returns undefined if the attempt is wrong; if `check` throws, the attempt is
 * given back.
 */
export async function countAttempt<T>(
  attempts: Attempts,
  attempt: Attempt,
  check: () => Promise<T | undefined>,
): Promise<T | 'wrong' | 'too_many'> {
  if (!(await attempts.begin(...attempt))) return 'too_many'
  const result = await givingBackOnFailure(attempts, attempt, check)
  if (result === undefined) return 'wrong'
  await attempts.succeeded(...attempt)
  return result
}

/** Runs the work of an attempt that was begun, and gives the attempt back if it throws. */
export async function givingBackOnFailure<T>(
  attempts: Attempts,
  attempt: Attempt,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Giving it back fails too if the store is unavailable; the original error is the one to report.
    await Promise.resolve(attempts.giveBack(...attempt)).catch(() => undefined)
    throw error
  }
}

interface AttemptBucket extends BucketSize {
  readonly level: keyof Limits
  readonly name: string
}

/**
 * The buckets that an attempt takes from. The widest come first, so that an attempt over a limit leaves the narrower ones
 * untouched; and the order is always the same, because the store locks them in it.
 */
function attemptBuckets(limits: AttemptLimits, [subject, address, knownBrowser]: Attempt): AttemptBucket[] {
  const bucket = (level: keyof Limits, name: string): AttemptBucket => ({
    ...limits[level],
    level,
    // The level is part of the name and the subject comes last, so no choice of subject can collide with another bucket.
    name: `attempts ${limits.what} ${level} ${bounded(name)}`,
  })
  if (knownBrowser !== undefined) return [bucket('perKnownBrowser', `${knownBrowser} ${subject}`)]
  const network = toNetwork(address)
  const site = toSite(address)
  return [
    ...(site === network ? [] : [bucket('perSite', site)]),
    bucket('perNetwork', network),
    bucket('perSubjectAndNetwork', `${network} ${subject}`),
    bucket('perSubject', subject),
  ]
}

/** The buckets that a successful attempt refills. */
const FILLED_BY_SUCCESS: readonly AttemptBucket['level'][] = ['perSubjectAndNetwork', 'perKnownBrowser']

const PLAIN_NAME = /^[\x20-\x7e]{1,120}$/

/** Hashes names that are too long or contain characters that a store rejects. */
function bounded(name: string): string {
  return PLAIN_NAME.test(name) ? name : `#${sha256Hex(name)}`
}

/** Maximum number of buckets in memory per level. */
const MAX_BUCKETS = 50_000

export class LocalAttempts implements Attempts {
  readonly #limits: AttemptLimits
  /** One map per level, so that many networks cannot evict the bucket of an account. */
  readonly #levels: Readonly<Record<keyof Limits, TokenBuckets>>

  constructor(limits: AttemptLimits, monotonic?: () => number) {
    this.#limits = limits
    const createBuckets = () => new TokenBuckets(monotonic, MAX_BUCKETS)
    this.#levels = {
      perSite: createBuckets(),
      perNetwork: createBuckets(),
      perSubjectAndNetwork: createBuckets(),
      perSubject: createBuckets(),
      perKnownBrowser: createBuckets(),
    }
  }

  begin(...attempt: Attempt): boolean {
    const buckets: TokenBucket[] = []
    for (const each of attemptBuckets(this.#limits, attempt)) {
      const bucket = this.#find(each)
      if (bucket.points < 1) return false
      buckets.push(bucket)
    }
    return buckets.every(takePoint)
  }

  succeeded(...attempt: Attempt): void {
    this.#giveBack(attempt, FILLED_BY_SUCCESS)
  }

  giveBack(...attempt: Attempt): void {
    this.#giveBack(attempt, [])
  }

  #giveBack(attempt: Attempt, filled: readonly AttemptBucket['level'][]): void {
    for (const each of attemptBuckets(this.#limits, attempt)) {
      const bucket = this.#find(each)
      bucket.points = filled.includes(each.level) ? each.capacity : Math.min(each.capacity, bucket.points + 1)
    }
  }

  #find(bucket: AttemptBucket): TokenBucket {
    return this.#levels[bucket.level].get(bucket.name, bucket)
  }
}

/** The same buckets in the store, shared by all processes: spreading guesses over processes gives no advantage. */
export class SharedAttempts implements Attempts {
  readonly #limits: AttemptLimits
  readonly #store: Pick<Store, 'commands'>

  constructor(limits: AttemptLimits, store: Pick<Store, 'commands'>) {
    this.#limits = limits
    this.#store = store
  }

  begin(...attempt: Attempt): Promise<boolean> {
    return this.#store.commands.takeFromAll({ buckets: attemptBuckets(this.#limits, attempt) })
  }

  succeeded(...attempt: Attempt): Promise<void> {
    const buckets = attemptBuckets(this.#limits, attempt)
    const filled = buckets.filter(({ level }) => FILLED_BY_SUCCESS.includes(level)).map(({ name }) => name)
    return this.#store.commands.giveBack({ buckets, filled })
  }

  giveBack(...attempt: Attempt): Promise<void> {
    return this.#store.commands.giveBack({ buckets: attemptBuckets(this.#limits, attempt), filled: [] })
  }
}
