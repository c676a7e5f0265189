import type { Log } from '../kit/telemetry/log.ts'
import { Outage } from '../kit/telemetry/outage.ts'

/**
 * Logs requests that failed because of the store. While it is unavailable, every request that needs it fails, so failures
 * are summarized in a few lines; at level debug each failure is logged.
 */
export class StoreFailures {
  readonly #log: Log
  readonly #outage = new Outage()

  constructor(log: Log) {
    this.#log = log
  }

  /** `request` are the log fields that identify the request. */
  note(request: Readonly<Record<string, string | undefined>>, reason: string): void {
    const report = this.#outage.fail(performance.now())
    if (report === undefined)
      this.#log.debug({ ...request, reason }, 'a request failed: the store is unavailable')
    else if (report.event === 'began') this.#log.warn({ ...request, reason }, 'the store is unavailable')
    else {
      const { failures, seconds } = report
      this.#log.warn(
        { ...request, reason, failed_requests: failures, seconds },
        'the store is still unavailable; this is the latest failed request',
      )
    }
  }

  /** Called periodically: logs the end of an outage once requests have stopped failing and the store responds. */
  async settle(storeAnswers: () => Promise<boolean>): Promise<void> {
    if (!this.#outage.isQuiet(performance.now()) || !(await storeAnswers())) return
    const now = performance.now()
    // A request may have failed during the check.
    if (!this.#outage.isQuiet(now)) return
    const ended = this.#outage.end(now)
    if (ended !== undefined)
      this.#log.info(
        { failed_requests: ended.failures, seconds: ended.seconds },
        'the store is available again',
      )
  }
}
