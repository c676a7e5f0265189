import type { Log } from '../kit/log.ts'
import type { Change, FeedEntry } from './feed.ts'
import type { Store } from './store.ts'

const AT_ONCE = 1000

/** Somebody who keeps in memory what the store holds. */
export interface Audience {
  /** Starts afresh from the store. */
  reload(): Promise<void>
  apply(change: Change): void
}

/**
 * Keeps an audience in step with the store. Entries arrive by hand-over from commands of this process, and by reading the
 * feed for what other processes wrote. They are applied in the order of their numbers; a number that is missing is read
 * from the store, and if it is no longer there everything is loaded anew.
 */
export class FeedFollower {
  readonly #store: Store
  readonly #audiences: readonly Audience[]
  readonly #log: Log
  #applied = 0
  #catchingUp: Promise<void> | undefined

  constructor(store: Store, audiences: readonly Audience[], log: Log) {
    this.#store = store
    this.#audiences = audiences
    this.#log = log
    store.onChange(entries => this.handOver(entries))
  }

  async load(): Promise<void> {
    await this.#reload()
    await this.catchUp()
  }

  async handOver(entries: readonly FeedEntry[]): Promise<void> {
    const first = entries[0]
    if (first === undefined) return
    if (first.seq === this.#applied + 1 && this.#catchingUp === undefined) this.#apply(entries)
    else if ((entries.at(-1)?.seq ?? 0) > this.#applied) {
      // The command has happened, whatever becomes of this reading: the next one makes up for it.
      await this.catchUp().catch(error =>
        this.#log.warn({ error: String(error) }, 'the feed could not be read'),
      )
    }
  }

  /** Reads the feed to its end. Those who ask while it is being read wait for one more reading. */
  async catchUp(): Promise<void> {
    if (this.#catchingUp !== undefined) await this.#catchingUp.catch(() => undefined)
    this.#catchingUp ??= this.#readFeed().finally(() => {
      this.#catchingUp = undefined
    })
    await this.#catchingUp
  }

  async #readFeed(): Promise<void> {
    for (;;) {
      const entries = await this.#store.feed.after(this.#applied, AT_ONCE)
      const [first] = entries
      if (first === undefined) return this.#noticeFork()
      if (first.seq !== this.#applied + 1) {
        this.#log.warn(
          { expected: this.#applied + 1, found: first.seq },
          'the feed has a gap; loading everything anew',
        )
        return this.#reload()
      }
      this.#apply(entries)
    }
  }

  /** The store may have been restored to an earlier state: its newest entry is then older than ours. */
  async #noticeFork(): Promise<void> {
    const head = await this.#store.feed.head()
    if (head === this.#applied) return
    // Entries that committed after the empty reading come with the next one; only a step back, or a trimmed feed, is news.
    if (head > this.#applied && (await this.#store.feed.after(this.#applied, 1)).length > 0) return
    this.#log.warn({ applied: this.#applied, head }, 'the feed went another way; loading everything anew')
    await this.#reload()
  }

  /** The number is read before the rest: entries that commit in between are applied again, which does no harm. */
  async #reload(): Promise<void> {
    const head = await this.#store.feed.head()
    for (const audience of this.#audiences) await audience.reload()
    this.#applied = head
  }

  #apply(entries: readonly FeedEntry[]): void {
    for (const { seq, change } of entries) {
      if (seq <= this.#applied) continue
      for (const audience of this.#audiences) audience.apply(change)
      this.#applied = seq
    }
  }
}
