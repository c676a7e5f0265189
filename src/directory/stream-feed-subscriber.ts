import type { FeedEntry, FeedPoint } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'

/** Keeps the directory in step with the store. */
export class StreamFeedSubscriber implements FeedSubscriber {
  readonly #store: Store
  readonly #directory: Directory

  constructor(store: Store, directory: Directory) {
    this.#store = store
    this.#directory = directory
  }

  async load(): Promise<(point: FeedPoint) => void> {
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
