import type { Change } from '../store/feed.ts'
import type { Audience } from '../store/follower.ts'
import type { Store } from '../store/store.ts'

/** Follows kept in memory at most, over all users. */
const MANY = 2_000_000

/** Whom a user follows, from memory: asked of the store once, and again after the feed told of a change. */
export class Followings implements Audience {
  readonly #store: Store
  readonly #known = new Map<string, readonly string[]>()
  #size = 0
  /** Counts what was forgotten: a look-up during which something was is not remembered. */
  #forgettings = 0

  constructor(store: Store) {
    this.#store = store
  }

  async of(user_id: string): Promise<readonly string[]> {
    const known = this.#known.get(user_id)
    if (known !== undefined) return known
    const before = this.#forgettings
    const follows = await this.#store.follows.of(user_id)
    if (before === this.#forgettings) this.#remember(user_id, follows)
    return follows
  }

  async reload(): Promise<void> {
    this.#forgetAll()
  }

  apply(change: Change): void {
    if (change.kind !== 'follows') return
    this.#forgettings += 1
    for (const user_id of change.user_ids) {
      this.#size -= this.#known.get(user_id)?.length ?? 0
      this.#known.delete(user_id)
    }
  }

  #remember(user_id: string, follows: readonly string[]): void {
    if (this.#size + follows.length > MANY) this.#forgetAll()
    this.#size += follows.length - (this.#known.get(user_id)?.length ?? 0)
    this.#known.set(user_id, follows)
  }

  #forgetAll(): void {
    this.#forgettings += 1
    this.#known.clear()
    this.#size = 0
  }
}
