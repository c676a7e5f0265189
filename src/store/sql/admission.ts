import { Unavailable } from '../errors.ts'

/**
 * Lets so many in at a time, and keeps the others waiting for a while. A place is given back when the work has really
 * ended, not when its caller lost patience: writes that hang must not pile up behind one another.
 */
export class Admission {
  readonly #places: number
  readonly #patience: number
  readonly #queue: (() => void)[] = []
  #inside = 0
  #refused = 0

  constructor(places: number, patienceMilliseconds: number) {
    this.#places = places
    this.#patience = patienceMilliseconds
  }

  get inside(): number {
    return this.#inside
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** How many have waited in vain so far. */
  get refused(): number {
    return this.#refused
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#places) await this.#turn()
    else this.#inside += 1
    try {
      return await work()
    } finally {
      const next = this.#queue.shift()
      // Whoever is next takes over the place.
      if (next === undefined) this.#inside -= 1
      else next()
    }
  }

  #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const enter = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(enter), 1)
      this.#refused += 1
      reject(new Unavailable('too many writes are waiting'))
    }, this.#patience)
    this.#queue.push(enter)
    return promise
  }
}
