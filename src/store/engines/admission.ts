import { Overloaded } from '../errors.ts'

/** A line that is longer does not get served in time by anything that is worth waiting for. */
const MAX_QUEUE_LENGTH = 5000

interface Waiting {
  enter(): void
  refuse(): void
  readonly until: number
}

/**
 * Lets so many in at a time, and keeps the others waiting for a while. A place is given back when the work has really
 * ended, not when its caller lost patience: work that hangs must not pile up behind itself. Whoever has waited too long is
 * refused, and its work never begins. Waiting costs next to nothing: most of those who are refused at once ask again at
 * once, and answering them would take the time that the work needs.
 */
export class Admission {
  #places: number
  readonly #maxWait: number
  /** One for all: where thousands are refused, making a stack trace for each is a load of its own. */
  readonly #refusal: Overloaded
  readonly #line: Waiting[] = []
  /** They go first, and are kept waiting however long the line is. */
  readonly #urgent: Waiting[] = []
  #inside = 0
  #refused = 0
  #timer: Timer | undefined

  constructor(places: number, maxWaitMilliseconds: number, work: 'reads' | 'writes' = 'writes') {
    this.#places = places
    this.#maxWait = maxWaitMilliseconds
    this.#refusal = new Overloaded(`too many ${work} are waiting`)
  }

  get inside(): number {
    return this.#inside
  }

  get waiting(): number {
    return this.#line.length + this.#urgent.length
  }

  get places(): number {
    return this.#places
  }

  /** How many have been refused so far. */
  get refused(): number {
    return this.#refused
  }

  /** More places let waiting ones in; of fewer, none is taken from whoever has one. */
  resize(places: number): void {
    this.#places = places
    while (this.#inside < this.#places && this.#enterNext()) this.#inside += 1
  }

  async run<T>(work: () => Promise<T>, { urgent = false } = {}): Promise<T> {
    if (this.#inside >= this.#places) await this.#turn(urgent)
    else this.#inside += 1
    try {
      return await work()
    } finally {
      // Whoever is next takes over the place.
      if (this.#inside > this.#places || !this.#enterNext()) this.#inside -= 1
    }
  }

  #enterNext(): boolean {
    const next = this.#urgent.shift() ?? this.#line.shift()
    next?.enter()
    return next !== undefined
  }

  async #turn(urgent: boolean): Promise<void> {
    if (!urgent && this.#line.length >= MAX_QUEUE_LENGTH) throw this.#refuse()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const until = performance.now() + this.#maxWait
    const line = urgent ? this.#urgent : this.#line
    line.push({ enter: resolve, refuse: () => reject(this.#refuse()), until })
    // In each line the first has waited longest: one timer is enough for all.
    this.#timer ??= setTimeout(() => this.#refuseLate(), this.#maxWait)
    return promise
  }

  #refuse(): Overloaded {
    this.#refused += 1
    return this.#refusal
  }

  #refuseLate(): void {
    const now = performance.now()
    for (const line of [this.#urgent, this.#line]) {
      while (line[0] !== undefined && line[0].until <= now) line.shift()?.refuse()
    }
    const next = Math.min(...[this.#urgent[0], this.#line[0]].map(first => first?.until ?? Infinity))
    this.#timer = Number.isFinite(next) ? setTimeout(() => this.#refuseLate(), next - now) : undefined
  }
}
