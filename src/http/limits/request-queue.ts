/**
 * Keeps a process answering when more requests arrive than it can answer. Without a bound, every request is begun, all of
 * them get slow together, and in the end most of the work is for callers who have given up.
 *
 * Two things can run short, and each has its rule:
 *
 * - The store. A read that has to wait for it holds one of `PLACES`. Writes hold none: the store bounds them itself, and a
 *   place held while a body arrives could be held by a caller who sends it slowly.
 * - The thread that answers. If it has not come round to its timers for `LATE_MILLISECONDS`, it has more in front of it
 *   than it can do, whatever that is.
 *
 * A request that meets either waits here, before its token or input is looked at, first come, first served. After
 * `MAX_WAIT_MILLISECONDS` it is refused with 503. Refusing at once would be worse: callers repeat what was refused, and
 * repeating at once costs as much as the work. If only a `FEW` wait, and for the thread alone, the machine is slow rather than
 * overloaded, for instance while a visitor loads a page with its pictures; they may wait longer. The waiting requests are begun
 * when a place is free, or at the next tick, for `TURN_MILLISECONDS` at a time, so that what never waits (health checks, the
 * control API) is answered in between, and what arrives is seen early enough to be refused in time.
 */
import { Fifo } from '../../kit/queues/fifo.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import type { Measured, Metrics } from '../../kit/telemetry/metrics.ts'

const PLACES = 128
const MAX_WAIT_MILLISECONDS = 680
const FEW = 128
const MAX_WAIT_OF_FEW_MILLISECONDS = 5000
const LATE_MILLISECONDS = 50
const TURN_MILLISECONDS = 40
/** While requests arrive, the thread notes this often that it came round. */
const TICK_MILLISECONDS = 20
/** More cannot be begun within the time that they may wait. */
const MAX_WAITING = 10_000
const WARNING_MILLISECONDS = 10_000

/** `free` never waits. `thread` needs only the thread that answers, `place` also a place. */
export type Need = 'free' | 'thread' | 'place'

interface Waiting {
  readonly since: number
  begin(): void
  refuse(): void
}

export class RequestQueue implements Measured {
  readonly #log: Log
  /** Two queues: what needs no place must not wait behind what does. */
  readonly #forThread = new Fifo<Waiting>()
  readonly #forPlace = new Fifo<Waiting>()
  #placesTaken = 0
  #timer: Timer | undefined
  #turnBegan = 0
  #hasHadRequests = false
  #isBeginning = false
  #refused = 0
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Begins the work, now or later, or refuses it. A need of `place` must be followed by `leave`, when the work has ended;
   * not if it was refused.
   */
  run<T>(need: Need, now: number, work: () => T | Promise<T>, refuse: () => T): T | Promise<T> {
    if (need === 'free') return work()
    if (this.#timer === undefined) this.#beginTicking(now)
    this.#hasHadRequests = true
    const queue = need === 'place' ? this.#forPlace : this.#forThread
    if (queue.length === 0 && now - this.#turnBegan < LATE_MILLISECONDS && this.#take(need)) return work()
    if (queue.length >= MAX_WAITING) return this.#refuse(refuse)
    return new Promise((resolve, reject) => {
      const settle = (answer: () => T | Promise<T>) => {
        try {
          resolve(answer())
        } catch (error) {
          reject(error)
        }
      }
      queue.push({
        since: now,
        begin: () => settle(work),
        refuse: () => settle(() => this.#refuse(refuse)),
      })
    })
  }

  /** Gives a place back. */
  leave(): void {
    this.#placesTaken -= 1
    if (this.#forPlace.length > 0 && !this.#isBeginning) this.#beginWaiting()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_http_requests_waiting',
      'Requests waiting to be begun.',
      this.#forThread.length + this.#forPlace.length,
    )
    metrics.counter(
      'strand_http_requests_refused_total',
      'Requests refused with 503 because too many were waiting.',
      this.#refused,
    )
  }

  #take(need: Need): boolean {
    if (need !== 'place') return true
    if (this.#placesTaken >= PLACES) return false
    this.#placesTaken += 1
    return true
  }

  #beginTicking(now: number): void {
    this.#turnBegan = now
    this.#hasHadRequests = false
    this.#timer = setTimeout(() => this.#tick(), TICK_MILLISECONDS)
  }

  #tick(): void {
    this.#timer = undefined
    const now = performance.now()
    this.#turnBegan = now
    // First, so that a process that got no processor time for a while answers instead of refusing.
    this.#beginWaiting()
    this.#refuseLate(now)
    const isWaiting = this.#forThread.length > 0 || this.#forPlace.length > 0
    if (!isWaiting && !this.#hasHadRequests) return
    this.#hasHadRequests = false
    const canBegin = this.#forThread.length > 0 || (isWaiting && this.#placesTaken < PLACES)
    this.#timer = setTimeout(() => this.#tick(), canBegin ? 0 : TICK_MILLISECONDS)
  }

  /** Takes from both queues in turns, as long as the turn of the thread lasts. */
  #beginWaiting(): void {
    this.#isBeginning = true
    let hasBegun = true
    while (hasBegun && performance.now() - this.#turnBegan < TURN_MILLISECONDS) {
      hasBegun = this.#beginNext(this.#forThread, 'thread')
      if (this.#beginNext(this.#forPlace, 'place')) hasBegun = true
    }
    this.#isBeginning = false
  }

  #beginNext(queue: Fifo<Waiting>, need: Need): boolean {
    if (queue.length === 0 || !this.#take(need)) return false
    queue.shift()?.begin()
    return true
  }

  #refuseLate(now: number): void {
    for (const queue of [this.#forThread, this.#forPlace]) {
      while ((queue.first?.since ?? now) + this.#maxWait(queue) < now) queue.shift()?.refuse()
    }
  }

  #maxWait(queue: Fifo<Waiting>): number {
    const isForThread = queue === this.#forThread || this.#placesTaken < PLACES
    return isForThread && queue.length <= FEW ? MAX_WAIT_OF_FEW_MILLISECONDS : MAX_WAIT_MILLISECONDS
  }

  #refuse<T>(refuse: () => T): T {
    this.#refused += 1
    const now = performance.now()
    if (now - this.#warnedAt > WARNING_MILLISECONDS) {
      this.#warnedAt = now
      this.#log.warn(
        { refused: this.#refused, places_taken: this.#placesTaken },
        'more requests arrive than this process can answer; refusing some with 503',
      )
    }
    return refuse()
  }
}
