/**
 * Writes the watched minutes of this process to the store (D-214), in batches of viewers. Pending slots are removed only when
 * the store has them; a flush may be repeated, because it is a union.
 */
import { Batcher } from '../../kit/queues/batcher.ts'
import { Histogram } from '../../kit/telemetry/histogram.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { type Clock, isoMillis } from '../../kit/time/clock.ts'
import type { WatchedProgress } from '../../store/commands/watch-time.ts'
import type { Store } from '../../store/store.ts'
import {
  hasPending,
  type SharedLists,
  type TakenMinutes,
  type WatchingViewer,
  withoutWritten,
  withProgress,
  writeReports,
} from './watching-viewer.ts'

const BATCH_SIZE = 500
const FLUSH_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 3] as const

interface FlusherOptions {
  readonly store: Store
  readonly clock: Clock
  /** Whether the clock can be moved, so that it has nothing to do with the clock of the store. */
  readonly hasOwnClock: boolean
  readonly viewers: ReadonlyMap<string, WatchingViewer>
  readonly shared: SharedLists
}

export class WatchTimeFlusher {
  readonly #options: FlusherOptions
  /** Viewers who are flushed at once: those of the same turn of the event loop together. */
  readonly #urgent = new Batcher<string, void>(
    async ids => {
      await this.#flushBatch([...new Set(ids)])
      return ids.map(() => undefined)
    },
    BATCH_SIZE,
    { soon: setImmediate },
  )
  readonly #flushTimes = new Histogram(FLUSH_SECONDS)
  #minutes = 0
  #failures = 0
  /** Drops that were claimed with the minutes that reached them. */
  autoClaims = 0

  constructor(options: FlusherOptions) {
    this.#options = options
  }

  /** Flushes these viewers, in id order. */
  async flushAll(ids: string[]): Promise<void> {
    ids.sort()
    for (let from = 0; from < ids.length; from += BATCH_SIZE)
      await this.#flushBatch(ids.slice(from, from + BATCH_SIZE))
  }

  /** Flushes one viewer, together with others who are urgent. */
  async flush(id: string): Promise<void> {
    const viewer = this.#options.viewers.get(id)
    if (viewer !== undefined && hasPending(viewer)) await this.#urgent.ask(id)
  }

  async #flushBatch(ids: readonly string[]): Promise<void> {
    const { store, clock, hasOwnClock, viewers } = this.#options
    const now = clock.now()
    const taken = ids.flatMap(id => {
      const viewer = viewers.get(id)
      return viewer !== undefined && hasPending(viewer) ? [{ id, viewer, pending: viewer.pending }] : []
    })
    if (taken.length === 0) return
    const began = performance.now()
    const author = { actor: 'strand', operation: 'ClaimDrop', chain: 'user', at: isoMillis(now) }
    try {
      const progress = await store.as(author).commands.flushWatchTime({
        ...writeReports(taken),
        now,
        ownClock: hasOwnClock,
      })
      this.#settle(taken, progress)
    } catch (error) {
      this.#failures += 1
      throw error
    }
    this.#flushTimes.note((performance.now() - began) / 1000)
  }

  /** Removes what the store has from the pending slots, and takes over its minutes. */
  #settle(taken: readonly TakenMinutes[], results: readonly WatchedProgress[]): void {
    const { viewers, shared } = this.#options
    for (const { viewer, pending } of taken)
      viewer.pending = shared.pending(withoutWritten(viewer.pending, pending))
    for (const { user_id, campaign_id, minutes, added, claimed } of results) {
      this.#minutes += added
      this.autoClaims += claimed.length
      const viewer = viewers.get(user_id)
      if (viewer?.progress === undefined) continue
      const progress = { campaign_id, minutes, claimed }
      viewer.progress = shared.progress(withProgress(viewer.progress, progress))
    }
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_watched_seconds_total',
      'Time watched that was credited, in each campaign.',
      this.#minutes * 60,
    )
    metrics.histogram(
      'strand_watch_flush_seconds',
      'Duration of a batch of watched minutes.',
      this.#flushTimes,
    )
    metrics.counter(
      'strand_watch_flush_failures_total',
      'Batches of watched minutes that failed.',
      this.#failures,
    )
  }
}
