import type { FeedEntry } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'
import type { Channel } from './live-rows.ts'

/** The most follows in memory, over all users. */
const MAX_FOLLOWS = 2_000_000

/** Whom users follow, from memory: read from the store once, and again after the feed reports a change. */
export class Followings implements FeedSubscriber {
  readonly #store: Store
  readonly #directory: Directory
  readonly #known = new Map<string, readonly Channel[]>()
  #size = 0
  /** Counts changes: a look-up during which one arrives may be stale and is not kept. */
  #forgettings = 0

  constructor(store: Store, directory: Directory) {
    this.#store = store
    this.#directory = directory
  }

  /** The channels that a user follows. */
  of(user_id: string): readonly Channel[] | Promise<readonly Channel[]> {
    return this.#known.get(user_id) ?? this.#lookUp(user_id)
  }

  async load(): Promise<() => void> {
    return () => this.#forgetAll()
  }

  apply({ change }: FeedEntry): void {
    if (change.kind !== 'follows') return
    this.#forgettings += 1
    for (const user_id of change.user_ids) {
      this.#size -= this.#known.get(user_id)?.length ?? 0
      this.#known.delete(user_id)
    }
  }

  async #lookUp(user_id: string): Promise<readonly Channel[]> {
    const before = this.#forgettings
    const follows = await this.#store.follows.of(user_id)
    if (this.#size + follows.length > MAX_FOLLOWS) this.#forgetAll()
    const channels = this.#directory.keepChannels(follows)
    if (before === this.#forgettings) {
      this.#size += channels.length - (this.#known.get(user_id)?.length ?? 0)
      this.#known.set(user_id, channels)
    }
    return channels
  }

  #forgetAll(): void {
    this.#forgettings += 1
    this.#known.clear()
    this.#size = 0
    this.#directory.releaseChannels()
  }
}
