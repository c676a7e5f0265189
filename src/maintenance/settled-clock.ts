import { type Clock, isoSeconds } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { Store } from '../store/store.ts'

interface SettledClockOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly settlingMilliseconds: number
}

/** The times that a sweep goes by. */
export interface SweepTimes {
  /** For entries of the feed, which may be lost. */
  readonly now: number
  /** For what must not be deleted because a clock was wrong; see `domain/settled-time.ts`. */
  readonly settled: number
}

/** Looks at the clock before each sweep, and reports when it jumped and when it is believed again. */
export class SettledClock {
  readonly #options: SettledClockOptions
  readonly #monotonic: () => number
  #last: { readonly seen: number; readonly at: number } | undefined
  #times: SweepTimes | undefined
  #isSettling = false
  readonly #jumps = { forward: 0, back: 0 }

  constructor(options: SettledClockOptions, monotonic: () => number = () => performance.now()) {
    this.#options = options
    this.#monotonic = monotonic
  }

  async look(): Promise<SweepTimes> {
    const { store, clock, settlingMilliseconds } = this.#options
    const at = this.#monotonic()
    const last = this.#last && { seen: this.#last.seen, passed: Math.round(at - this.#last.at) }
    const { now, settled, seen, candidate, jump } = await store.commands.noteTime({
      now: clock.now(),
      settlingMilliseconds,
      last,
    })
    this.#last = { seen, at }
    this.#times = { now, settled }
    if (jump !== undefined) this.#reportJump(jump, candidate !== undefined)
    else if (this.#isSettling && candidate === undefined) {
      this.#options.log.info({ settled_time: isoSeconds(settled) }, 'the clock has settled')
    }
    this.#isSettling = candidate !== undefined
    return this.#times
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_clock_jumps_total',
      'Jumps of the clock noticed before a sweep, by direction; a long downtime counts as one.',
      Object.entries(this.#jumps).map(([direction, count]) => [{ direction }, count]),
    )
    metrics.gauge(
      'strand_clock_unsettled_seconds',
      'How far the time that deletions go by is behind the clock.',
      this.#times === undefined ? 0 : (this.#times.now - this.#times.settled) / 1000,
    )
  }

  #reportJump(jump: number, isSettling: boolean): void {
    this.#jumps[jump > 0 ? 'forward' : 'back'] += 1
    const { log, settlingMilliseconds } = this.#options
    const fields = { jump_seconds: Math.round(jump / 1000) }
    if (isSettling)
      log.warn(
        { ...fields, settles_after_hours: settlingMilliseconds / 3_600_000 },
        'the clock is ahead of the time that passed since the last sweep; nothing is deleted by it until it has settled',
      )
    else log.warn(fields, `the clock was set ${jump > 0 ? 'forward' : 'back'}`)
  }
}
