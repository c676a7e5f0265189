/**
 * Limits on guessing passwords, secrets and codes. An attempt is counted before it is checked, so that many at once are no
 * way around, and is given back if it was right or could not be checked.
 *
 * What is guessed at is the subject: an account, a client, a device. Attempts are counted
 *
 * - by network, over all subjects, so that one network cannot try a password on every account;
 * - by subject and network: a network that guesses at an account is locked out of it, and others are not;
 * - by subject, over all networks, so that many addresses gain nothing. One network cannot use this up for the others:
 *   its own limit is lower, and fills more slowly.
 *
 * Many networks together can use up the last one and keep it used up. A browser that logged in to the account before is
 * therefore counted by itself alone: the owner gets in, however many guess.
 */

import { sha256Hex } from '../kit/digest.ts'
import { networkOf, siteOf } from '../kit/network.ts'
import { type BucketSize, type TokenBucket, TokenBuckets, takePoint } from '../kit/token-buckets.ts'
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
  /** What is attempted. Attempts at something else are counted apart. */
  readonly what: string
}

const inQuarterOfAnHour = (capacity: number): BucketSize => ({ capacity, fullAfterSeconds: 15 * 60 })

/** Secrets of clients and codes of devices: they are long, and quick to check. */
export const SECRET_LIMITS: AttemptLimits = {
  what: 'secret',
  perSite: inQuarterOfAnHour(400),
  perNetwork: inQuarterOfAnHour(100),
  perSubjectAndNetwork: inQuarterOfAnHour(10),
  perSubject: inQuarterOfAnHour(30),
  perKnownBrowser: inQuarterOfAnHour(10),
}

/** In any minute, at most ten attempts by strangers on one account are checked: 8 at once, and 2 that come back. */
export const LOGIN_LIMITS: AttemptLimits = {
  ...SECRET_LIMITS,
  what: 'login',
  perSubjectAndNetwork: inQuarterOfAnHour(5),
  perSubject: { capacity: 8, fullAfterSeconds: 4 * 60 },
}

/** New accounts are no guesses: their subject is a network, and a person may find some names taken. */
export const SIGN_UP_LIMITS: AttemptLimits = {
  ...SECRET_LIMITS,
  what: 'sign-up',
  perSubject: inQuarterOfAnHour(10),
}

/** Who counts: this process for itself, or all on one store together. */
export interface Attempts {
  /** Counts an attempt. False if there were too many already: then it must not be checked, be it right or wrong. */
  begin(subject: string, address: string, knownBrowser?: string): boolean | Promise<boolean>
  /** The attempt was right: it is given back, and this network or browser may be wrong as often as at first. */
  succeeded(subject: string, address: string, knownBrowser?: string): void | Promise<void>
  /** The attempt was not checked: it is given back. */
  giveBack(subject: string, address: string, knownBrowser?: string): void | Promise<void>
}

/** What an attempt is about and who makes it, as `Attempts` takes it. */
export type Attempt = Parameters<Attempts['begin']>

/**
 * Checks something and counts it. `check` returns what the right answer opens, and undefined for a wrong one; an attempt
 * whose check fails is given back.
 */
export async function countAttempt<T>(
  attempts: Attempts,
  attempt: Attempt,
  check: () => Promise<T | undefined>,
): Promise<T | 'wrong' | 'too_many'> {
  if (!(await attempts.begin(...attempt))) return 'too_many'
  const opened = await givingBackOnFailure(attempts, attempt, check)
  if (opened === undefined) return 'wrong'
  await attempts.succeeded(...attempt)
  return opened
}

/** Does what an attempt that was begun is for, and gives it back if that fails. */
export async function givingBackOnFailure<T>(
  attempts: Attempts,
  attempt: Attempt,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Where the store is away it may not be possible to give back; what failed says why.
    await Promise.resolve(attempts.giveBack(...attempt)).catch(() => undefined)
    throw error
  }
}

interface AttemptBucket extends BucketSize {
  readonly level: keyof Limits
  readonly name: string
}

/**
 * The buckets that an attempt takes from. The widest come first, so that one who is over a limit leaves no trace in the
 * narrower ones; and always in this order, in which the store holds them.
 */
function bucketsOf(limits: AttemptLimits, [subject, address, knownBrowser]: Attempt): AttemptBucket[] {
  const bucket = (level: keyof Limits, name: string): AttemptBucket => ({
    ...limits[level],
    level,
    // With the level, and the subject last: whatever a subject is called, its buckets are nobody else's.
    name: `attempts ${limits.what} ${level} ${bounded(name)}`,
  })
  if (knownBrowser !== undefined) return [bucket('perKnownBrowser', `${knownBrowser} ${subject}`)]
  const network = networkOf(address)
  const site = siteOf(address)
  return [
    ...(site === network ? [] : [bucket('perSite', site)]),
    bucket('perNetwork', network),
    bucket('perSubjectAndNetwork', `${network} ${subject}`),
    bucket('perSubject', subject),
  ]
}

/** Whose attempts are right starts again with these full. */
const FILLED_BY_SUCCESS: readonly AttemptBucket['level'][] = ['perSubjectAndNetwork', 'perKnownBrowser']

const PLAIN_NAME = /^[\x20-\x7e]{1,120}$/

/** A name that somebody made up takes no more room than others, and has nothing in it that a store refuses. */
function bounded(name: string): string {
  return PLAIN_NAME.test(name) ? name : `#${sha256Hex(name)}`
}

/** Buckets of each level in memory. */
const MANY = 50_000

export class LocalAttempts implements Attempts {
  readonly #limits: AttemptLimits
  /** One map for each level: many networks cannot push out what is known of an account. */
  readonly #levels: Readonly<Record<keyof Limits, TokenBuckets>>

  constructor(limits: AttemptLimits, monotonic?: () => number) {
    this.#limits = limits
    const buckets = () => new TokenBuckets(monotonic, MANY)
    this.#levels = {
      perSite: buckets(),
      perNetwork: buckets(),
      perSubjectAndNetwork: buckets(),
      perSubject: buckets(),
      perKnownBrowser: buckets(),
    }
  }

  begin(...attempt: Attempt): boolean {
    const held: TokenBucket[] = []
    for (const bucket of bucketsOf(this.#limits, attempt)) {
      const kept = this.#kept(bucket)
      if (kept.points < 1) return false
      held.push(kept)
    }
    return held.every(takePoint)
  }

  succeeded(...attempt: Attempt): void {
    this.#giveBack(attempt, FILLED_BY_SUCCESS)
  }

  giveBack(...attempt: Attempt): void {
    this.#giveBack(attempt, [])
  }

  #giveBack(attempt: Attempt, filled: readonly AttemptBucket['level'][]): void {
    for (const bucket of bucketsOf(this.#limits, attempt)) {
      const kept = this.#kept(bucket)
      kept.points = filled.includes(bucket.level)
        ? bucket.capacity
        : Math.min(bucket.capacity, kept.points + 1)
    }
  }

  #kept(bucket: AttemptBucket): TokenBucket {
    return this.#levels[bucket.level].get(bucket.name, bucket)
  }
}

/** The same buckets in the store, where several processes count: guessing at all of them gains nothing. */
export class SharedAttempts implements Attempts {
  readonly #limits: AttemptLimits
  readonly #store: Pick<Store, 'commands'>

  constructor(limits: AttemptLimits, store: Pick<Store, 'commands'>) {
    this.#limits = limits
    this.#store = store
  }

  begin(...attempt: Attempt): Promise<boolean> {
    return this.#store.commands.takeFromAll({ buckets: bucketsOf(this.#limits, attempt) })
  }

  succeeded(...attempt: Attempt): Promise<void> {
    const buckets = bucketsOf(this.#limits, attempt)
    const filled = buckets.filter(({ level }) => FILLED_BY_SUCCESS.includes(level)).map(({ name }) => name)
    return this.#store.commands.giveBack({ buckets, filled })
  }

  giveBack(...attempt: Attempt): Promise<void> {
    return this.#store.commands.giveBack({ buckets: bucketsOf(this.#limits, attempt), filled: [] })
  }
}
