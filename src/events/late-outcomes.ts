/**
 * Outcomes that the transaction of a claim could not settle. They are settled apart from claims: a row that another session has
 * locked delays neither claims nor other outcomes. A message whose outcome is not settled before its claim ends is sent again.
 */
import type { Log } from '../kit/telemetry/log.ts'
import type { DeliveryOutcome } from '../store/commands/event-deliveries.ts'
import type { Store } from '../store/store.ts'

/** Outcomes that one transaction settles. */
export const SETTLE_BATCH_SIZE = 1000
const PAUSE_MILLISECONDS = 250

interface LateOutcome {
  readonly outcome: DeliveryOutcome
  /** When it is given up, on the monotonic clock. */
  readonly until: number
  readonly onSettled?: () => void
}

interface LateOutcomesOptions {
  readonly store: Store
  readonly log: Log
}

export class LateOutcomes {
  readonly #options: LateOutcomesOptions
  #waiting: LateOutcome[] = []
  #settling: Promise<void> | undefined

  constructor(options: LateOutcomesOptions) {
    this.#options = options
  }

  add(outcomes: readonly LateOutcome[]): void {
    this.#waiting = [...this.#waiting, ...outcomes]
    if (this.#waiting.length === 0) return
    this.#settling ??= this.#settleAll().finally(() => {
      this.#settling = undefined
    })
  }

  /** Waits until all are settled or given up. */
  async settled(): Promise<void> {
    await this.#settling
  }

  /** After a failure in smaller batches, so that the outcome that cannot be settled is soon tried alone. */
  async #settleAll(): Promise<void> {
    let size = SETTLE_BATCH_SIZE
    while (this.#waiting.length > 0) {
      size = Math.min(size, this.#waiting.length)
      const batch = this.#waiting.splice(0, size)
      try {
        await this.#options.store.commands.settleDeliveries({ outcomes: batch.map(each => each.outcome) })
        for (const { onSettled } of batch) onSettled?.()
        size = Math.min(2 * size, SETTLE_BATCH_SIZE)
      } catch (error) {
        this.#keep(batch, error)
        size = Math.ceil(size / 4)
        await Bun.sleep(PAUSE_MILLISECONDS)
      }
    }
  }

  #keep(batch: readonly LateOutcome[], error: unknown): void {
    const now = performance.now()
    const kept = batch.filter(({ until }) => now < until)
    const messages = batch.length - kept.length
    if (messages > 0)
      this.#options.log.warn({ messages, error: String(error) }, 'messages could not be settled')
    this.#waiting.push(...kept)
  }
}
