/**
 * Requests that wait for what a broadcast has next (D-258). All of them look again when something has changed, some at a time:
 * the message that changes it wakes none itself, and thousands of answers do not hold the thread.
 */

/** Answered in one turn of the thread. */
const BATCH_SIZE = 50
/** While requests wait, they look this often whether their time is over. */
const LOOK_MILLISECONDS = 500

/** A request that may wait. */
export interface Reader {
  /** Takes a place among all that wait; returns how to leave it, or undefined if there is none. */
  take(): (() => void) | undefined
  /** Aborted when the client has hung up. */
  readonly signal?: AbortSignal
}

/** Why a request gets nothing: `late`: not in time, `full`: too many wait, `gone`: the client has hung up. */
export type Unanswered = 'not live' | 'too far' | 'late' | 'full' | 'gone'

export class Readers {
  readonly #waiting = new Set<() => void>()
  /** Those that look now, some at a time; undefined if none do. */
  #woken: (() => void)[] | undefined
  #hasChangedAgain = false
  #looks: Timer | undefined

  get count(): number {
    return this.#waiting.size + (this.#woken?.length ?? 0)
  }

  /** @param deadline by the clock of `now` */
  async wait(
    reader: Reader,
    isReady: () => boolean,
    deadline: number,
    now: () => number,
  ): Promise<'ready' | 'late' | 'full' | 'gone'> {
    if (isReady()) return 'ready'
    const leave = reader.take()
    if (leave === undefined) return 'full'
    try {
      for (;;) {
        await this.#nextChange(reader.signal)
        if (reader.signal?.aborted) return 'gone'
        if (isReady()) return 'ready'
        if (now() >= deadline) return 'late'
      }
    } finally {
      leave()
    }
  }

  /** Something has changed. Costs the same however many wait. */
  wake(): void {
    if (this.#woken !== undefined) this.#hasChangedAgain = true
    else if (this.#waiting.size > 0) {
      this.#woken = []
      setTimeout(() => this.#wakeAll(), 0)
    }
  }

  #wakeAll(): void {
    this.#hasChangedAgain = false
    this.#woken = [...this.#waiting]
    this.#waiting.clear()
    this.#wakeSome()
  }

  #wakeSome(): void {
    for (const look of this.#woken?.splice(0, BATCH_SIZE) ?? []) look()
    if (this.#woken !== undefined && this.#woken.length > 0) setTimeout(() => this.#wakeSome(), 0)
    else if (this.#hasChangedAgain) setTimeout(() => this.#wakeAll(), 0)
    else this.#woken = undefined
  }

  #nextChange(signal: AbortSignal | undefined): Promise<void> {
    return new Promise(resolve => {
      const look = () => {
        signal?.removeEventListener('abort', look)
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      signal?.addEventListener('abort', look)
      this.#looks ??= setInterval(() => this.#look(), LOOK_MILLISECONDS)
    })
  }

  #look(): void {
    if (this.#waiting.size > 0) this.wake()
    else if (this.#woken === undefined) {
      clearInterval(this.#looks)
      this.#looks = undefined
    }
  }
}
