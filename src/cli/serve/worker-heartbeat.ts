/**
 * Whether the event loop of a worker still turns. The supervisor asks at every tick and the worker answers; one that leaves
 * so many ticks in a row without an answer is stopped, or stuck in a loop, and takes connections that it will never serve.
 *
 * Ticks are counted and not seconds: while the machine is suspended, or the supervisor itself gets no processor, no tick
 * happens. After such a gap the worker gets all of its time again, as it could not have answered either.
 */
export const TICK_MILLISECONDS = 1000
/** About fifteen seconds: longer than any work that a healthy worker does at one go. */
const MAX_MISSED = 15
/** A tick that comes so late says that the supervisor did not run meanwhile. */
const GAP_MILLISECONDS = 3 * TICK_MILLISECONDS

export class WorkerHeartbeat {
  #missed = 0
  #tickedAt: number | undefined

  /** Called when the worker has answered. */
  answered(): void {
    this.#missed = 0
  }

  /** Called at every tick, before the worker is asked again; tells whether it is to be given up. */
  tick(now: number): boolean {
    const isGap = this.#tickedAt !== undefined && now - this.#tickedAt > GAP_MILLISECONDS
    this.#tickedAt = now
    this.#missed = isGap ? 0 : this.#missed + 1
    return this.#missed > MAX_MISSED
  }
}
