import type { Clock } from './clock.ts'

/** Less than this is a slow turn, not a skip. */
const SKIP_MILLISECONDS = 2000

/** Notices when a clock skips time: it was set forward, or the machine slept. */
export class ClockSkips {
  readonly #clock: Clock
  readonly #steady: () => number
  #offset: number

  constructor(clock: Clock, steady = () => performance.now()) {
    this.#clock = clock
    this.#steady = steady
    this.#offset = clock.now() - steady()
  }

  /** Whether it has skipped time since the last call. */
  look(): boolean {
    const offset = this.#clock.now() - this.#steady()
    const hasSkipped = offset - this.#offset > SKIP_MILLISECONDS
    this.#offset = offset
    return hasSkipped
  }
}
