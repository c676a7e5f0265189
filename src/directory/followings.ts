import { Recent } from '../kit/recent.ts'
import type { FeedEntry } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'
import type { Channel } from './live-rows.ts'

/** Follows kept in memory, over all users; at most twice as many. */
const MAX_FOLLOWS = 1_000_000

/** Whom users follow, from memory: read from the store once, and again after the feed reports a change. */
export class Followings implements FeedSubscriber {
  readonly #store: Pick<Store, 'follows'>
  readonly #directory: Directory
  readonly #known: Recent<readonly Channel[]>
  /** Counts changes: a look-up during which one arrives may be stale and is not kept. */
  #forgettings = 0

  constructor(store: Pick<Store, 'follows'>, directory: Directory, most = MAX_FOLLOWS) {
    this.#store = store
    this.#directory = directory
    this.#known = new Recent(most, {
      weigh: channels => 1 + channels.length,
      dropped: () => this.#releaseChannels(),
    })
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
    for (const user_id of change.user_ids) this.#known.delete(user_id)
  }

  async #lookUp(user_id: string): Promise<readonly Channel[]> {
    const before = this.#forgettings
    const follows = await this.#store.follows.of(user_id)
    const channels = this.#directory.keepChannels(follows)
    if (before === this.#forgettings) this.#known.set(user_id, channels)
    return channels
  }

  #forgetAll(): void {
    this.#forgettings += 1
    this.#known.clear()
    this.#releaseChannels()
  }

  /** Releases the channels that no remembered user follows. */
  #releaseChannels(): void {
    this.#directory.releaseChannels(Array.from(this.#known, ([, channels]) => channels))
  }
}
