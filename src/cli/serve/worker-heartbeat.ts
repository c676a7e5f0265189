/**
 * Detects a worker whose event loop is stuck or whose process is stopped: it accepts connections that it never serves. The
 * supervisor sends a heartbeat at every tick and the worker returns it; a worker that misses too many in a row is stuck.
 *
 * Ticks are counted, not seconds: no tick happens while the machine is suspended or the supervisor gets no CPU time. After
 * such a gap the count starts at zero, because the worker could not have responded either.
 */
export const TICK_MILLISECONDS = 1000
/** About 15 seconds, longer than a healthy worker ever blocks its event loop. */
const MAX_MISSED = 15
/** The program has to be read first, on a machine that may be busy. A migration takes longer, but answers meanwhile. */
const MAX_MISSED_AT_START = 60
/** A tick this late means that the supervisor did not run in between. */
const GAP_MILLISECONDS = 3 * TICK_MILLISECONDS

export class WorkerHeartbeat {
  #missed = 0
  #tickedAt: number | undefined

  /** Called when the worker has returned a heartbeat. */
  returned(): void {
    this.#missed = 0
  }

  /** Called at every tick, before the next heartbeat is sent. Returns whether the worker is stuck. */
  tick(now: number, { isServing = true } = {}): boolean {
    const isGap = this.#tickedAt !== undefined && now - this.#tickedAt > GAP_MILLISECONDS
    this.#tickedAt = now
    this.#missed = isGap ? 0 : this.#missed + 1
    return this.#missed > (isServing ? MAX_MISSED : MAX_MISSED_AT_START)
  }
}
