import { Unavailable } from '../store/errors.ts'
import { type FeedEntry, type FeedPoint, isNext } from '../store/feed.ts'
import type { FeedFollower } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'

/** Entries per read: one may hold 10,000 counts, and parsing them blocks other requests. */
const BATCH_ENTRIES = 10
/** Maximum number of entries to go back; the feed is truncated after some minutes. */
const MAX_ENTRIES = 100_000
/** How long the store may be unavailable before pages that need it fail: a failover takes some seconds. */
const MAX_WAIT_MILLISECONDS = 8000
/** Minimum time to wait for the store, however long it has been unavailable. */
const MIN_WAIT_MILLISECONDS = 250
const RETRY_MILLISECONDS = 50

/**
 * Loads the point where a walk started into the directory, if it is unknown: the first page may have come from another
 * process that is ahead of this one, or from a time before this one started.
 */
export class History {
  readonly #store: Store
  readonly #directory: Directory
  readonly #follower: FeedFollower
  readonly #maxWait: number
  readonly #inProgress = new Map<string, Promise<void>>()

  constructor(
    store: Store,
    directory: Directory,
    follower: FeedFollower,
    maxWaitMilliseconds = MAX_WAIT_MILLISECONDS,
  ) {
    this.#store = store
    this.#directory = directory
    this.#follower = follower
    this.#maxWait = maxWaitMilliseconds
  }

  /**
   * A point that the store no longer has is not an error: the walk then continues by sort key (D-33). But while the store
   * is unavailable, this throws `Unavailable`: another process may know the point, and the caller could not recognize a
   * page that repeats some streams and omits others.
   */
  async reach(point: FeedPoint): Promise<void> {
    const name = `${point.seq} ${point.nonce}`
    const attempt =
      this.#inProgress.get(name) ?? this.#load(point).finally(() => this.#inProgress.delete(name))
    this.#inProgress.set(name, attempt)
    await attempt
  }

  /** Reads the feed to its end, with retries: a store that is unavailable may be back soon. */
  async #catchUp(): Promise<void> {
    const left = this.#follower.inStepAt + this.#maxWait - performance.now()
    const deadline = Bun.sleep(Math.max(left, MIN_WAIT_MILLISECONDS)).then(() => 'late' as const)
    for (;;) {
      const outcome = await Promise.race([
        deadline,
        this.#follower.catchUp().then(
          () => 'done' as const,
          () => Bun.sleep(RETRY_MILLISECONDS),
        ),
      ])
      if (outcome === 'done') return
      if (outcome === 'late') throw new Unavailable('the point where a walk started cannot be read')
    }
  }

  async #load(point: FeedPoint): Promise<void> {
    await this.#catchUp()
    if (this.#directory.knows(point)) return
    const { oldest } = this.#directory
    if (point.seq >= oldest.seq || oldest.seq - point.seq > MAX_ENTRIES) return
    if (!(await this.#store.feed.has(point))) return
    const entries: FeedEntry[] = []
    while ((entries.at(-1)?.seq ?? 0) < oldest.seq) {
      const more = await this.#store.feed.after(entries.at(-1)?.seq ?? point.seq - 1, BATCH_ENTRIES)
      if (more.length === 0) return
      for (const entry of more) {
        const previous = entries.at(-1)
        // Entries written with a wrong clock may be deleted early: with a gap, the rest does not lead back to the point.
        if (previous !== undefined && !isNext(entry, previous)) return
        entries.push(entry)
      }
      // Let other requests run.
      await Bun.sleep(0)
    }
    this.#directory.recall(entries.filter(entry => entry.seq <= oldest.seq))
  }
}
