/**
 * Reduces many failures with one cause to a few log lines: one when they begin, a summary every few seconds while they
 * continue, and one when they end. Its memory does not grow with the number of failures. Times are arguments, in
 * milliseconds of the monotonic clock.
 */
const SUMMARY_MILLISECONDS = 5000

export interface OutageReport {
  readonly event: 'began' | 'continues' | 'ended'
  /** Failures since the previous report; for `ended`, the total. */
  readonly failures: number
  /** Since the first failure. */
  readonly seconds: number
}

export class Outage {
  #beganAt = 0
  #lastAt = 0
  #reportedAt = 0
  #total = 0
  #unreported = 0

  get isOpen(): boolean {
    return this.#total > 0
  }

  /** Counts a failure; the report is the line to log for it, if one is due. */
  fail(now: number): OutageReport | undefined {
    if (!this.isOpen) this.#beganAt = now
    this.#lastAt = now
    this.#total += 1
    this.#unreported += 1
    if (this.#total > 1 && now - this.#reportedAt < SUMMARY_MILLISECONDS) return undefined
    const failures = this.#unreported
    this.#reportedAt = now
    this.#unreported = 0
    return this.#report(this.#total === 1 ? 'began' : 'continues', failures, now)
  }

  /** Whether the last failure is long enough ago to check if the outage is over. */
  isQuiet(now: number): boolean {
    return this.isOpen && now - this.#lastAt >= SUMMARY_MILLISECONDS
  }

  /** Ends the outage; undefined if there was none. */
  end(now: number): OutageReport | undefined {
    if (!this.isOpen) return undefined
    const report = this.#report('ended', this.#total, now)
    this.#total = 0
    this.#unreported = 0
    return report
  }

  #report(event: OutageReport['event'], failures: number, now: number): OutageReport {
    return { event, failures, seconds: Math.round((now - this.#beganAt) / 100) / 10 }
  }
}
