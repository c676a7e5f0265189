/**
 * Keeps state in memory in step with the store.
 *
 * The problem: the directory and the caller cache answer from memory, and the store is changed by this process and by
 * others. Every command that changes what they hold also writes an entry to the feed, in the same transaction. Entries have
 * numbers without gaps, and each names the nonce of the entry before it (`feed.ts`). The follower applies them to all
 * subscribers, in the order of the numbers.
 *
 * Entries arrive in two ways. A command of this process hands over its entries when it has committed, so that its caller
 * sees the change at once. Entries of other processes are found by reading the feed, four times a second.
 *
 * | State | Entries are handed over | `catchUp` |
 * |---|---|---|
 * | nothing loaded | ignored: the load, or the read after it, finds them | loads everything |
 * | in step, the next number | applied at once | reads from the last applied entry to the end |
 * | in step, a later number | as `catchUp`: entries of others come first | |
 * | reading | wait for one more read, unless they are applied already | waits for one more read |
 *
 * A read that finds a gap (old entries are deleted) or a fork (a failover lost the last entries, so a known number now has
 * another nonce) cannot be continued. Then everything is loaded again: note the head of the feed, let all subscribers read
 * the store, read the entries since that head, and replace the state in memory. If the feed was cut or forked meanwhile, the
 * load starts over.
 *
 * What must hold:
 * - Subscribers get all entries in order, without gaps or repetitions.
 * - What a subscriber reads in a load may already contain the changes of the entries that follow. Applying them again must
 *   be harmless, so an entry carries the resulting state, not a difference. `retrace` is for what needs the difference.
 * - Replacing the state after a load, and applying the entries since, happens without a pause: no request sees half of it.
 * - A command that has committed does not fail because the feed cannot be read. The next read catches up.
 * - `inStepAt` moves, and a lost touch is found again, only when the feed was read to its end.
 */
import type { Log } from '../kit/telemetry/log.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import { type FeedEntry, type FeedPoint, isNext, samePoint } from './feed.ts'
import type { Store } from './store.ts'

/** Entries per read; fewer if they are large. */
const BATCH_SIZE = 500

/** Keeps a copy of stored state in memory. */
export interface FeedSubscriber {
  /** Reads the store, and returns a function that replaces the state in memory, as of a point of the feed. */
  load(): Promise<(point: FeedPoint) => void>
  apply(entry: FeedEntry): void
  /** Called after a load with the entries since its point, which were applied to data that may contain their changes. */
  retrace?(point: FeedPoint, entries: readonly FeedEntry[]): void
}

export class FeedFollower {
  readonly #store: Store
  readonly #subscribers: FeedSubscriber[]
  readonly #log: Log
  #applied: FeedPoint | undefined
  #catchingUp: Promise<void> | undefined
  /** When the feed was last read to its end, on the monotonic clock. */
  #inStepAt = performance.now()
  /** When the first read began that has not ended well since. */
  #tryingSince: number | undefined
  #entriesApplied = 0
  #reloads = 0

  constructor(store: Store, subscribers: readonly FeedSubscriber[], log: Log) {
    this.#store = store
    this.#subscribers = [...subscribers]
    this.#log = log
    store.onChange(entries => this.handOver(entries))
  }

  /** Adds a subscriber that needs only the changes from now on. */
  onChange(apply: (change: FeedEntry['change']) => void): void {
    this.#subscribers.push({ load: async () => () => undefined, apply: ({ change }) => apply(change) })
  }

  /** Whether there is anything in memory to keep in sync. */
  get hasLoaded(): boolean {
    return this.#applied !== undefined
  }

  /** When the subscribers were last in sync with the store, on the monotonic clock. */
  get inStepAt(): number {
    return this.#inStepAt
  }

  /**
   * Until when the store could be read: now, unless a read takes long or has failed. A process that was only too busy to read
   * has not lost touch.
   */
  get inTouchAt(): number {
    return this.#tryingSince ?? performance.now()
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_feed_stale_seconds',
      'Time since the feed was last read to its end: the maximum age of data in memory.',
      (performance.now() - this.#inStepAt) / 1000,
    )
    metrics.gauge('strand_feed_position', 'Number of the newest feed entry applied.', this.#applied?.seq ?? 0)
    metrics.counter('strand_feed_entries_applied_total', 'Feed entries applied.', this.#entriesApplied)
    metrics.counter(
      'strand_feed_reloads_total',
      'Reloads of everything in memory, including the one at the start.',
      this.#reloads,
    )
  }

  async handOver(entries: readonly FeedEntry[]): Promise<void> {
    const [first] = entries
    if (first === undefined || this.#applied === undefined) return
    if (this.#catchingUp === undefined && isNext(first, this.#applied)) return this.#apply(entries)
    if ((entries.at(-1)?.seq ?? 0) <= this.#applied.seq) return
    // The command has succeeded, whether or not this read does: the next one catches up.
    await this.catchUp().catch(error => this.#log.warn({ error: String(error) }, 'reading the feed failed'))
  }

  /** Reads the feed to its end. Callers during a read wait for one more read. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp !== undefined) await this.#catchingUp.catch(() => undefined)
    this.#catchingUp ??= this.#readToEnd().finally(() => {
      this.#catchingUp = undefined
    })
    await this.#catchingUp
  }

  async #readToEnd(): Promise<void> {
    this.#tryingSince ??= performance.now()
    await this.#readFeed()
    this.#tryingSince = undefined
    this.#inStepAt = performance.now()
  }

  async #readFeed(): Promise<void> {
    for (;;) {
      const applied = this.#applied
      if (applied === undefined) return this.#loadAll()
      const head = await this.#store.feed.head()
      if (samePoint(head, applied)) return
      const entries = head.seq > applied.seq ? await this.#store.feed.after(applied.seq, BATCH_SIZE) : []
      const [first] = entries
      if (first === undefined || !isNext(first, applied)) {
        const why = first === undefined || first.seq === applied.seq + 1 ? 'has forked' : 'has a gap'
        this.#log.warn({ applied, head, found: first?.seq }, `the feed ${why}; reloading everything`)
        return this.#loadAll()
      }
      this.#apply(entries)
      if ((entries.at(-1)?.seq ?? 0) >= head.seq) return
    }
  }

  async #loadAll(): Promise<void> {
    this.#reloads += 1
    for (;;) {
      const start = await this.#store.feed.head()
      const placings = await Promise.all(this.#subscribers.map(subscriber => subscriber.load()))
      const entries = await this.#chainFrom(start)
      if (entries === undefined) continue
      for (const place of placings) place(start)
      this.#applied = start
      this.#apply(entries)
      for (const subscriber of this.#subscribers) subscriber.retrace?.(start, entries)
      return
    }
  }

  /** All entries after a point; undefined if the feed was truncated or has forked during the read. */
  async #chainFrom(start: FeedPoint): Promise<FeedEntry[] | undefined> {
    const chain: FeedEntry[] = []
    for (;;) {
      const entries = await this.#store.feed.after(chain.at(-1)?.seq ?? start.seq, BATCH_SIZE)
      for (const entry of entries) {
        if (!isNext(entry, chain.at(-1) ?? start)) return undefined
        chain.push(entry)
      }
      if (entries.length === 0) return chain
    }
  }

  #apply(entries: readonly FeedEntry[]): void {
    for (const entry of entries) {
      for (const subscriber of this.#subscribers) subscriber.apply(entry)
      this.#applied = { seq: entry.seq, nonce: entry.nonce }
      this.#entriesApplied += 1
    }
  }
}
