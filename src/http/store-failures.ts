import type { Log } from '../kit/log.ts'
import { Outage } from '../kit/outage.ts'

/**
 * Logs requests that failed because of the store. While it is away that is every request that needs it, so they share a
 * few lines; at level debug each has its own.
 */
export class StoreFailures {
  readonly #log: Log
  readonly #outage = new Outage()

  constructor(log: Log) {
    this.#log = log
  }

  /** `request` are the fields by which a log line names the request. */
  note(request: Readonly<Record<string, string | undefined>>, reason: string): void {
    const report = this.#outage.fail(performance.now())
    if (report === undefined)
      this.#log.debug({ ...request, reason }, 'a request failed: the store is unavailable')
    else if (report.event === 'began') this.#log.warn({ ...request, reason }, 'the store is unavailable')
    else {
      const { failures, seconds } = report
      this.#log.warn(
        { ...request, reason, failed_requests: failures, seconds },
        'the store is still unavailable; the request is the latest of those that failed',
      )
    }
  }

  /** Called now and then: logs the end of an outage, once requests have stopped failing and the store answers. */
  async settle(storeAnswers: () => Promise<boolean>): Promise<void> {
    if (!this.#outage.isQuiet(performance.now()) || !(await storeAnswers())) return
    const now = performance.now()
    // A request may have failed while the store was asked.
    if (!this.#outage.isQuiet(now)) return
    const ended = this.#outage.end(now)
    if (ended !== undefined)
      this.#log.info(
        { failed_requests: ended.failures, seconds: ended.seconds },
        'the store is available again',
      )
  }
}
