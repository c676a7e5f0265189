import type { FeedEntry } from '../store/feed.ts'
import type { Audience } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory, Seat } from './directory.ts'

/** Follows kept in memory at most, over all users. */
const MANY = 2_000_000

/** Whom a user follows, from memory: asked of the store once, and again after the feed told of a change. */
export class Followings implements Audience {
  readonly #store: Store
  readonly #directory: Directory
  readonly #known = new Map<string, readonly Seat[]>()
  #size = 0
  /** Counts what was forgotten: a look-up during which something was is not remembered. */
  #forgettings = 0

  constructor(store: Store, directory: Directory) {
    this.#store = store
    this.#directory = directory
  }

  /** The seats of the channels that a user follows. */
  of(user_id: string): readonly Seat[] | Promise<readonly Seat[]> {
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

  async #lookUp(user_id: string): Promise<readonly Seat[]> {
    const before = this.#forgettings
    const follows = await this.#store.follows.of(user_id)
    if (this.#size + follows.length > MANY) this.#forgetAll()
    const seats = this.#directory.keepSeats(follows)
    if (before === this.#forgettings) {
      this.#size += seats.length - (this.#known.get(user_id)?.length ?? 0)
      this.#known.set(user_id, seats)
    }
    return seats
  }

  #forgetAll(): void {
    this.#forgettings += 1
    this.#known.clear()
    this.#size = 0
    this.#directory.releaseSeats()
  }
}
