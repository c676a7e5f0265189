import type { FeedEntry, FeedPoint } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'

/** Keeps the directory in step with the store. */
export class StreamFeedSubscriber implements FeedSubscriber {
  readonly #store: Store
  readonly #directory: Directory
  #ranksFirst: boolean

  /** With `ranksFirst`, the first load leaves the details of streams to the directory. */
  constructor(store: Store, directory: Directory, { ranksFirst = false } = {}) {
    this.#store = store
    this.#directory = directory
    this.#ranksFirst = ranksFirst
  }

  async load(): Promise<(point: FeedPoint) => void> {
    if (this.#ranksFirst) {
      const ranked = await this.#store.streams.ranked()
      return point => {
        this.#ranksFirst = false
        this.#directory.reloadRanked(ranked, point)
      }
    }
    const streams = await this.#store.streams.live()
    return point => this.#directory.reload(streams, point)
  }

  apply(entry: FeedEntry): void {
    this.#directory.apply(entry)
  }

  retrace(point: FeedPoint, entries: readonly FeedEntry[]): void {
    this.#directory.retrace(point, entries)
  }
}
