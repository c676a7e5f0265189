/**
 * Turns many failures with one cause into few log lines: one when they begin, a summary every few seconds while they
 * continue, and one when they are over. It keeps four numbers, however many failures there are. Times are arguments, in
 * milliseconds on the monotonic clock.
 */
const SUMMARY_MILLISECONDS = 5000

export interface OutageReport {
  readonly event: 'began' | 'continues' | 'ended'
  /** Failures since the report before this one; of all when it has ended. */
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

  /** Whether the last failure is long enough ago to ask if it is over. */
  isQuiet(now: number): boolean {
    return this.isOpen && now - this.#lastAt >= SUMMARY_MILLISECONDS
  }

  /** It is over; nothing to report if it had not begun. */
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
