/**
 * Runs a bounded number of things at a time; the others wait in a line, for a bounded time.
 *
 *     run -> place free --------------------------------> work -> place passes to the next in line
 *         -> all places taken -> line -> its turn ------> work
 *                             -> line is full, waited too long, or caller is gone -> refused, never starts
 *
 * What must hold: no more than `places` run; work that was refused never starts; a place is freed when its work has ended,
 * not when its caller has given up, so that work that hangs does not accumulate.
 *
 * Waiting is cheap, and refusing early is not: most callers retry at once, and answering them takes time that the work needs.
 */
import { Fifo } from './fifo.ts'

/** Why work was not started. */
export type RefusedBecause = 'full' | 'late' | 'abandoned'

/** Work that waits. */
export interface Entry {
  start(): void
  refuse(reason: RefusedBecause): void
}

/** Who waits, and who is next. `Who` is what decides it, such as the network of a caller. */
export interface Line<Who> {
  readonly size: number
  /** False if there is no room for it. Another entry may lose its position: then the line refuses that one. */
  add(entry: Entry, who: Who): boolean
  /** Removes and returns the next entry. */
  take(): Entry | undefined
  /** False if the entry is not in the line. */
  remove(entry: Entry, who: Who): boolean
  /** Someone got a place without waiting. */
  noteTurn?(who: Who): void
}

/** First come, first served. Urgent entries go first, and have no limit. */
export class FirstComeLine implements Line<{ readonly urgent?: boolean }> {
  readonly #most: number
  readonly #urgent = new Fifo<Entry>()
  readonly #others = new Fifo<Entry>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#urgent.length + this.#others.length
  }

  add(entry: Entry, { urgent = false }: { readonly urgent?: boolean }): boolean {
    if (!urgent && this.#others.length >= this.#most) return false
    const line = urgent ? this.#urgent : this.#others
    line.push(entry)
    return true
  }

  take(): Entry | undefined {
    return this.#urgent.shift() ?? this.#others.shift()
  }

  remove(entry: Entry): boolean {
    return this.#urgent.remove(entry) || this.#others.remove(entry)
  }
}

interface QueueOptions<Who> {
  readonly places: number
  readonly line: Line<Who>
  /** Infinite: entries wait until it is their turn. */
  readonly maxWaitMilliseconds: number
  /** The error that the caller of refused work gets. */
  refusal(reason: RefusedBecause): Error
}

export interface Patience {
  /** Aborted if the caller is gone. */
  readonly signal?: AbortSignal | undefined
  readonly maxWaitMilliseconds?: number
}

export class BoundedQueue<Who> {
  readonly #options: QueueOptions<Who>
  /** So far, by reason. */
  readonly refused: Record<RefusedBecause, number> = { full: 0, late: 0, abandoned: 0 }
  #places: number
  #running = 0

  constructor(options: QueueOptions<Who>) {
    this.#options = options
    this.#places = options.places
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#options.line.size
  }

  /** More places start waiting work; fewer do not interrupt running work. */
  resize(places: number): void {
    this.#places = places
    while (this.#running < this.#places && this.#startNext()) this.#running += 1
  }

  async run<T>(who: Who, work: () => Promise<T>, patience: Patience = {}): Promise<T> {
    if (patience.signal?.aborted) throw this.#refusal('abandoned')
    if (this.#running < this.#places) {
      this.#running += 1
      this.#options.line.noteTurn?.(who)
    } else await this.#wait(who, patience)
    try {
      return await work()
    } finally {
      // The next in line takes over the place.
      if (this.#running > this.#places || !this.#startNext()) this.#running -= 1
    }
  }

  #refusal(reason: RefusedBecause): Error {
    this.refused[reason] += 1
    return this.#options.refusal(reason)
  }

  #startNext(): boolean {
    const next = this.#options.line.take()
    next?.start()
    return next !== undefined
  }

  #wait(who: Who, { signal, maxWaitMilliseconds = this.#options.maxWaitMilliseconds }: Patience) {
    const { line } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (reason: RefusedBecause) => {
      if (line.remove(entry, who)) entry.refuse(reason)
    }
    const abandon = () => leave('abandoned')
    let timer: Timer | undefined
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
        reject(this.#refusal(reason))
      },
    }
    if (!line.add(entry, who)) entry.refuse('full')
    else {
      signal?.addEventListener('abort', abandon)
      if (Number.isFinite(maxWaitMilliseconds)) timer = setTimeout(leave, maxWaitMilliseconds, 'late')
    }
    return promise
  }
}
