import { type Lifetime, repeatedly } from '../lifetime.ts'
import type { Log } from './log.ts'
import { Outage } from './outage.ts'

/** The same work, with repeated failures summarized in the log. */
export function loggingOutages(work: () => Promise<void>, log: Log, failure: string): () => Promise<void> {
  const outage = new Outage()
  return async () => {
    try {
      await work()
    } catch (error) {
      const report = outage.fail(performance.now())
      if (report !== undefined)
        log.warn({ error: String(error), failures: report.failures, seconds: report.seconds }, failure)
      return
    }
    const ended = outage.end(performance.now())
    if (ended !== undefined)
      log.info({ failures: ended.failures, seconds: ended.seconds }, `${failure}; recovered`)
  }
}

/** Repeats work that may fail for a while, such as while the store is away, until the lifetime ends. */
export const repeaterOf =
  (lifetime: Lifetime, log: Log) =>
  (milliseconds: number, work: () => Promise<void>, failure: string): void => {
    // It reports its failures itself.
    const turns = repeatedly(milliseconds, loggingOutages(work, log, failure), () => undefined)
    lifetime.onClose(() => turns.stop())
  }
