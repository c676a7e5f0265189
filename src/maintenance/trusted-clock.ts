import type { Log } from '../kit/telemetry/log.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type Clock, isoSeconds } from '../kit/time/clock.ts'
import type { Store } from '../store/store.ts'

interface SettledClockOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly settlingMilliseconds: number
}

/** The times that a sweep uses. */
export interface SweepTimes {
  /** For feed entries, which can be lost without harm. */
  readonly now: number
  /** For data that a wrong clock must not delete; see `domain/settled-time.ts`. */
  readonly settled: number
}

/** Reads the clock before each sweep, and logs when it jumped and when it has settled. */
export class TrustedClock {
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
    const { now, settled, seen, isSettling, jump } = await store.commands.recordTime({
      now: clock.now(),
      settlingMilliseconds,
      last,
    })
    this.#last = { seen, at }
    this.#times = { now, settled }
    if (jump !== undefined) this.#reportJump(jump, isSettling)
    else if (this.#isSettling && !isSettling)
      this.#options.log.info({ settled_time: isoSeconds(settled) }, 'the clock has settled')
    this.#isSettling = isSettling
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
      'Lag of the time used for deletions behind the clock.',
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
        'the clock advanced more than the time since the last sweep; it is not used for deletions until it has settled',
      )
    else log.warn(fields, `the clock was set ${jump > 0 ? 'forward' : 'back'}`)
  }
}
