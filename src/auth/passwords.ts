/**
 * Password hashing: argon2id, computed in threads of the runtime. A hash takes much memory and time, so only a few are
 * computed at once and the others wait in a fair queue that no single network can fill. There are three lanes:
 *
 * - `known`: a browser that is logged in, or logged in to the account before. Grouped by account.
 * - `operator`: control API calls and imports.
 * - `stranger`: everything else. Grouped by network.
 *
 * The lanes take turns, so that none can block another. An entry that waits too long is rejected, because the user has
 * given up by then; one whose client disconnects leaves the queue without being computed.
 */

import { type Added, FairQueue, type QueueLimits, type QueuePlace } from '../kit/fair-queue.ts'
import { Histogram, SECONDS } from '../kit/histogram.ts'
import type { Metrics } from '../kit/metrics.ts'
import { must } from '../kit/must.ts'
import { networkOf, widerNetworkOf } from '../kit/network.ts'
import { comparableHash } from './password-hash.ts'

/** Each hash takes 64 MiB while it is computed. */
const AT_ONCE = 2
/** The parameters of new hashes. */
const MEMORY_KIBIBYTES = 65_536
const PASSES = 2

export const MIN_PASSWORD_LENGTH = 8
export const MAX_PASSWORD_LENGTH = 200

/** Shorter than the idle timeout of a connection. */
const MAX_WAIT_MILLISECONDS = 10_000
const RETRY_AFTER_SECONDS = 5

type Lane = 'known' | 'operator' | 'stranger'

const LANES: Readonly<Record<Lane, QueueLimits>> = {
  known: { perMember: 2, perGroup: 4, total: 64 },
  operator: { perMember: 64, perGroup: 64, total: 64 },
  stranger: { perMember: 4, perGroup: 16, total: 256 },
}

/** Lanes are served in this order, repeatedly; empty lanes are skipped. */
const TURNS: readonly Lane[] = ['known', 'operator', 'known', 'stranger']

/** Who requests a password to be hashed or compared. */
export type Requester =
  | { readonly lane: 'known'; readonly account: string; readonly browser: string }
  | { readonly lane: 'operator' }
  | { readonly lane: 'stranger'; readonly address: string }

export interface Waiting {
  /** Aborted if the client disconnects. */
  readonly signal?: AbortSignal | undefined
  readonly maxWaitMilliseconds?: number
}

/** Passed to work that has reached the front of the queue: the only way to hash and compare passwords. */
export interface PasswordTurn {
  hash(password: string): Promise<string>
  /** Whether the password matches the hash. Without a hash it does not, after the same time. */
  matches(password: string, hash: string | null | undefined): Promise<boolean>
}

/** Nothing was computed: the queue was full, the wait was too long, or the client disconnected. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy'
  readonly reason: 'full' | 'late' | 'abandoned'
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS

  constructor(reason: PasswordsBusy['reason']) {
    super(`the password was not checked: ${reason}`)
    this.reason = reason
  }
}

interface Entry {
  start(): void
  refuse(reason: PasswordsBusy['reason']): void
}

export class PasswordQueue {
  readonly #lanes: Readonly<Record<Lane, FairQueue<Entry>>>
  readonly #turn: PasswordTurn
  readonly #maxWait: number
  readonly #waited: Readonly<Record<Lane, Histogram>>
  readonly #refused = { full: 0, late: 0 }
  #abandoned = 0
  #running = 0
  #nextTurn = 0

  constructor(options: { turn?: PasswordTurn; maxWaitMilliseconds?: number } = {}) {
    this.#lanes = perLane(lane => new FairQueue<Entry>(LANES[lane]))
    this.#waited = perLane(() => new Histogram(SECONDS))
    this.#turn = options.turn ?? argon2id
    this.#maxWait = options.maxWaitMilliseconds ?? MAX_WAIT_MILLISECONDS
  }

  /** Runs the work when it is the requester's turn. Throws `PasswordsBusy` if it was not started. */
  async inTurn<T>(
    requester: Requester,
    work: (turn: PasswordTurn) => Promise<T>,
    { signal, maxWaitMilliseconds = this.#maxWait }: Waiting = {},
  ): Promise<T> {
    if (signal?.aborted) throw this.#countRefusal('abandoned')
    const arrivedAt = performance.now()
    if (this.#running < AT_ONCE) this.#begin(requester)
    else await this.#wait(requester, signal, maxWaitMilliseconds)
    this.#waited[requester.lane].note((performance.now() - arrivedAt) / 1000)
    try {
      return await work(this.#turn)
    } finally {
      this.#startNext()
    }
  }

  measure(metrics: Metrics): void {
    const lanes = Object.keys(LANES) as Lane[]
    metrics.gauge(
      'strand_password_hashing_running',
      'Password checks and hashes being computed.',
      this.#running,
    )
    metrics.gauge(
      'strand_password_hashing_waiting',
      'Password checks and hashes waiting in the queue, by lane.',
      lanes.map(lane => [{ lane }, this.#lanes[lane].size] as const),
    )
    metrics.counter(
      'strand_password_hashing_refused_total',
      'Password checks and hashes rejected because the queue was full or the wait too long, by reason.',
      Object.entries(this.#refused).map(([reason, count]) => [{ reason }, count] as const),
    )
    metrics.counter(
      'strand_password_hashing_abandoned_total',
      'Password checks and hashes dropped because the client disconnected while waiting.',
      this.#abandoned,
    )
    metrics.histogram(
      'strand_password_hashing_wait_seconds',
      'Time that password checks and hashes waited in the queue, by lane.',
      lanes.map(lane => [{ lane }, this.#waited[lane]] as const),
    )
  }

  #begin(requester: Requester): void {
    this.#running += 1
    this.#lanes[requester.lane].noteTurn(placeOf(requester))
  }

  /** Resolves when a running check has finished and this one is next. */
  #wait(requester: Requester, signal: AbortSignal | undefined, maxWait: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const queue = this.#lanes[requester.lane]
    const place = placeOf(requester)
    const leave = (reason: PasswordsBusy['reason']) => {
      if (queue.remove(place, entry)) entry.refuse(reason)
    }
    const abandon = () => leave('abandoned')
    const timer = Number.isFinite(maxWait) ? setTimeout(() => leave('late'), maxWait) : undefined
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abandon)
    }
    const entry: Entry = {
      start: () => {
        settle()
        resolve()
      },
      refuse: reason => {
        settle()
        reject(this.#countRefusal(reason))
      },
    }
    signal?.addEventListener('abort', abandon)
    const added: Added<Entry> = queue.add(place, entry)
    if (added.outcome === 'full') entry.refuse('full')
    else added.displaced?.refuse('full')
    return promise
  }

  #countRefusal(reason: PasswordsBusy['reason']): PasswordsBusy {
    if (reason === 'abandoned') this.#abandoned += 1
    else this.#refused[reason] += 1
    return new PasswordsBusy(reason)
  }

  /** Called when a check has finished: starts the next in the queue, if any. */
  #startNext(): void {
    const next = this.#takeNext()
    if (next === undefined) this.#running -= 1
    else next.start()
  }

  #takeNext(): Entry | undefined {
    for (let step = 0; step < TURNS.length; step += 1) {
      const turn = (this.#nextTurn + step) % TURNS.length
      const next = this.#lanes[must(TURNS[turn], 'a turn')].take()
      if (next === undefined) continue
      this.#nextTurn = turn + 1
      return next
    }
    return undefined
  }
}

function perLane<T>(make: (lane: Lane) => T): Record<Lane, T> {
  return { known: make('known'), operator: make('operator'), stranger: make('stranger') }
}

/** The group and member under which the queue counts a requester. */
function placeOf(requester: Requester): QueuePlace {
  if (requester.lane === 'known') return { group: requester.account, member: requester.browser }
  if (requester.lane === 'operator') return { group: '', member: '' }
  return { group: widerNetworkOf(requester.address), member: networkOf(requester.address) }
}

const base64 = (bytes: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)))
    .toString('base64')
    .replaceAll('=', '')

/**
 * A well-formed hash that matches no password: rejecting an unknown account takes as long as rejecting a known one. It is
 * random rather than computed, so that it is available from the start.
 */
const DUMMY_HASH = `$argon2id$v=19$m=${MEMORY_KIBIBYTES},t=${PASSES},p=1$${base64(32)}$${base64(32)}`

const argon2id: PasswordTurn = {
  hash: password =>
    Bun.password.hash(password, {
      algorithm: 'argon2id',
      memoryCost: MEMORY_KIBIBYTES,
      timeCost: PASSES,
    }),
  matches: async (password, stored) => {
    const hash = comparableHash(stored)
    const matches = await Bun.password.verify(password, hash ?? DUMMY_HASH).catch(async error => {
      if (!UNREADABLE.has((error as { code?: unknown }).code)) throw error
      // An account with such a hash, from an import, takes as long to reject as the others.
      await Bun.password.verify(password, DUMMY_HASH)
      return false
    })
    return matches && hash !== undefined
  },
}

/** Errors caused by the stored hash: a retry would fail in the same way. */
const UNREADABLE = new Set<unknown>([
  'PASSWORD_UNSUPPORTED_ALGORITHM',
  'PASSWORD_INVALID_ENCODING',
  'PASSWORD_WEAK_PARAMETERS',
])

/** One per process, because it bounds the memory of the process. */
export const passwords = new PasswordQueue()

export function hashPassword(password: string, requester: Requester, waiting?: Waiting): Promise<string> {
  return passwords.inTurn(requester, turn => turn.hash(password), waiting)
}
