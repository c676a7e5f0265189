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

import { assertDefined } from '../kit/assert-defined.ts'
import { toNetwork, toWiderNetwork } from '../kit/network.ts'
import {
  BoundedQueue,
  type Entry,
  type Line,
  type Patience,
  type RefusedBecause,
} from '../kit/queues/bounded-queue.ts'
import { FairQueue, type QueueLimits, type QueuePlace } from '../kit/queues/fair-queue.ts'
import { Histogram, SECONDS } from '../kit/telemetry/histogram.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { comparableHash } from './password-hash.ts'

/** Each hash takes 64 MiB while it is computed. */
const CONCURRENCY = 2
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

/** Passed to work that has reached the front of the queue: the only way to hash and compare passwords. */
export interface PasswordTurn {
  hash(password: string): Promise<string>
  /** Whether the password matches the hash. Without a hash it does not, after the same time. */
  matches(password: string, hash: string | null | undefined): Promise<boolean>
}

/** Nothing was computed: the queue was full, the wait was too long, or the client disconnected. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy'
  readonly reason: RefusedBecause
  readonly retryAfterSeconds = RETRY_AFTER_SECONDS

  constructor(reason: RefusedBecause) {
    super(`the password was not checked: ${reason}`)
    this.reason = reason
  }
}

/** The lanes in turns, each a fair queue. */
class PasswordLine implements Line<Requester> {
  readonly #lanes = perLane(lane => new FairQueue<Entry>(LANES[lane]))
  #nextTurn = 0

  get size(): number {
    return Object.values(this.#lanes).reduce((sum, lane) => sum + lane.size, 0)
  }

  sizeOfLane(lane: Lane): number {
    return this.#lanes[lane].size
  }

  add(entry: Entry, requester: Requester): boolean {
    const added = this.#lanes[requester.lane].add(queuePlace(requester), entry)
    if (added.outcome === 'full') return false
    added.displaced?.refuse('full')
    return true
  }

  take(): Entry | undefined {
    for (let step = 0; step < TURNS.length; step += 1) {
      const turn = (this.#nextTurn + step) % TURNS.length
      const next = this.#lanes[assertDefined(TURNS[turn], 'a turn')].take()
      if (next === undefined) continue
      this.#nextTurn = turn + 1
      return next
    }
    return undefined
  }

  remove(entry: Entry, requester: Requester): boolean {
    return this.#lanes[requester.lane].remove(queuePlace(requester), entry)
  }

  noteTurn(requester: Requester): void {
    this.#lanes[requester.lane].noteTurn(queuePlace(requester))
  }
}

export class PasswordQueue {
  readonly #line = new PasswordLine()
  readonly #queue: BoundedQueue<Requester>
  readonly #turn: PasswordTurn
  readonly #waited: Readonly<Record<Lane, Histogram>>

  constructor(options: { turn?: PasswordTurn; maxWaitMilliseconds?: number } = {}) {
    this.#waited = perLane(() => new Histogram(SECONDS))
    this.#turn = options.turn ?? argon2id
    this.#queue = new BoundedQueue({
      places: CONCURRENCY,
      line: this.#line,
      maxWaitMilliseconds: options.maxWaitMilliseconds ?? MAX_WAIT_MILLISECONDS,
      refusal: reason => new PasswordsBusy(reason),
    })
  }

  /** Runs the work when it is the requester's turn. Throws `PasswordsBusy` if it was not started. */
  inTurn<T>(requester: Requester, work: (turn: PasswordTurn) => Promise<T>, patience?: Patience): Promise<T> {
    const arrivedAt = performance.now()
    return this.#queue.run(
      requester,
      () => {
        this.#waited[requester.lane].note((performance.now() - arrivedAt) / 1000)
        return work(this.#turn)
      },
      patience,
    )
  }

  measure(metrics: Metrics): void {
    const lanes = Object.keys(LANES) as Lane[]
    const { abandoned, ...refused } = this.#queue.refused
    metrics.gauge(
      'strand_password_hashing_running',
      'Password checks and hashes being computed.',
      this.#queue.running,
    )
    metrics.gauge(
      'strand_password_hashing_waiting',
      'Password checks and hashes waiting in the queue, by lane.',
      lanes.map(lane => [{ lane }, this.#line.sizeOfLane(lane)] as const),
    )
    metrics.counter(
      'strand_password_hashing_refused_total',
      'Password checks and hashes rejected because the queue was full or the wait too long, by reason.',
      Object.entries(refused).map(([reason, count]) => [{ reason }, count] as const),
    )
    metrics.counter(
      'strand_password_hashing_abandoned_total',
      'Password checks and hashes dropped because the client disconnected while waiting.',
      abandoned,
    )
    metrics.histogram(
      'strand_password_hashing_wait_seconds',
      'Time that password checks and hashes waited in the queue, by lane.',
      lanes.map(lane => [{ lane }, this.#waited[lane]] as const),
    )
  }
}

function perLane<T>(make: (lane: Lane) => T): Record<Lane, T> {
  return { known: make('known'), operator: make('operator'), stranger: make('stranger') }
}

/** The group and member under which the queue counts a requester. */
function queuePlace(requester: Requester): QueuePlace {
  if (requester.lane === 'known') return { group: requester.account, member: requester.browser }
  if (requester.lane === 'operator') return { group: '', member: '' }
  return { group: toWiderNetwork(requester.address), member: toNetwork(requester.address) }
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

export function hashPassword(password: string, requester: Requester, patience?: Patience): Promise<string> {
  return passwords.inTurn(requester, turn => turn.hash(password), patience)
}
