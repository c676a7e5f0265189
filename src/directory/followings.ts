import { LruCache } from '../kit/lru-cache.ts'
import type { FeedEntry } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'
import type { Channel } from './live-rows.ts'

/** Follows cached for all users together; up to twice as many may be in memory. */
const MAX_FOLLOWS = 1_000_000

/** A cache of followed channels, read from the store again after the feed reports a change. */
export class Followings implements FeedSubscriber {
  readonly #store: Pick<Store, 'follows'>
  readonly #directory: Directory
  readonly #known: LruCache<readonly Channel[]>
  /** Counts invalidations: a look-up during which one happens may be stale and is not cached. */
  #invalidations = 0

  constructor(store: Pick<Store, 'follows'>, directory: Directory, maxFollows = MAX_FOLLOWS) {
    this.#store = store
    this.#directory = directory
    this.#known = new LruCache(maxFollows, {
      weigh: channels => 1 + channels.length,
      dropped: lists => this.#release(lists),
    })
  }

  /** The channels that a user follows, if they are in memory. */
  known(user_id: string): readonly Channel[] | undefined {
    return this.#known.get(user_id)
  }

  /** The channels that a user follows. */
  async of(user_id: string): Promise<readonly Channel[]> {
    return this.#known.get(user_id) ?? this.#lookUp(user_id)
  }

  async load(): Promise<() => void> {
    return () => this.#clear()
  }

  apply({ change }: FeedEntry): void {
    if (change.kind !== 'follows') return
    this.#invalidations += 1
    for (const user_id of change.user_ids) this.#forget(user_id)
  }

  async #lookUp(user_id: string): Promise<readonly Channel[]> {
    const before = this.#invalidations
    const follows = await this.#store.follows.of(user_id)
    const channels = this.#directory.keepChannels(follows)
    this.#forget(user_id)
    if (before === this.#invalidations) this.#known.set(user_id, channels)
    // Good for the request that waits for it.
    else this.#directory.releaseChannels(channels)
    return channels
  }

  #forget(user_id: string): void {
    const channels = this.#known.delete(user_id)
    if (channels !== undefined) this.#directory.releaseChannels(channels)
  }

  #clear(): void {
    this.#invalidations += 1
    this.#release(Array.from(this.#known, ([, channels]) => channels))
    this.#known.clear()
  }

  #release(lists: Iterable<readonly Channel[]>): void {
    for (const channels of lists) this.#directory.releaseChannels(channels)
  }
}
