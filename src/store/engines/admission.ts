import { Overloaded } from '../errors.ts'

/** A longer queue cannot be served within the time that callers wait. */
const MAX_QUEUE_LENGTH = 5000

interface Waiting {
  admit(): void
  refuse(): void
  readonly until: number
}

/**
 * Limits how much work runs at a time; the rest waits for a bounded time. A place is freed when the work has ended, not
 * when its caller timed out, so that hanging work does not accumulate. Work that has waited too long is refused and never
 * starts. Waiting is cheap, refusing early is not: most callers retry at once, and answering them would take the time that
 * the work needs.
 */
export class Admission {
  #places: number
  readonly #maxWait: number
  /** Shared: when thousands are refused, a stack trace for each would add to the load. */
  readonly #refusal: Overloaded
  readonly #queue: Waiting[] = []
  /** Admitted first, and queued without a limit. */
  readonly #urgent: Waiting[] = []
  #running = 0
  #refused = 0
  #timer: Timer | undefined

  constructor(places: number, maxWaitMilliseconds: number, work: 'reads' | 'writes' = 'writes') {
    this.#places = places
    this.#maxWait = maxWaitMilliseconds
    this.#refusal = new Overloaded(`too many ${work} are waiting`)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.length + this.#urgent.length
  }

  get places(): number {
    return this.#places
  }

  /** The total so far. */
  get refused(): number {
    return this.#refused
  }

  /** More places admit waiting work; fewer do not interrupt running work. */
  resize(places: number): void {
    this.#places = places
    while (this.#running < this.#places && this.#admitNext()) this.#running += 1
  }

  async run<T>(work: () => Promise<T>, { urgent = false } = {}): Promise<T> {
    if (this.#running >= this.#places) await this.#waitForPlace(urgent)
    else this.#running += 1
    try {
      return await work()
    } finally {
      // The next in the queue takes over the place.
      if (this.#running > this.#places || !this.#admitNext()) this.#running -= 1
    }
  }

  #admitNext(): boolean {
    const next = this.#urgent.shift() ?? this.#queue.shift()
    next?.admit()
    return next !== undefined
  }

  async #waitForPlace(urgent: boolean): Promise<void> {
    if (!urgent && this.#queue.length >= MAX_QUEUE_LENGTH) throw this.#refuse()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const until = performance.now() + this.#maxWait
    const queue = urgent ? this.#urgent : this.#queue
    queue.push({ admit: resolve, refuse: () => reject(this.#refuse()), until })
    // The first of each queue has waited longest, so one timer is enough.
    this.#timer ??= setTimeout(() => this.#refuseLate(), this.#maxWait)
    return promise
  }

  #refuse(): Overloaded {
    this.#refused += 1
    return this.#refusal
  }

  #refuseLate(): void {
    const now = performance.now()
    for (const queue of [this.#urgent, this.#queue]) {
      while (queue[0] !== undefined && queue[0].until <= now) queue.shift()?.refuse()
    }
    const next = Math.min(...[this.#urgent[0], this.#queue[0]].map(first => first?.until ?? Infinity))
    this.#timer = Number.isFinite(next) ? setTimeout(() => this.#refuseLate(), next - now) : undefined
  }
}
