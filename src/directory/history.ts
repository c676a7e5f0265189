import { Unavailable } from '../store/errors.ts'
import { type FeedEntry, type FeedPoint, isNext } from '../store/feed.ts'
import type { FeedFollower } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import type { Directory } from './directory.ts'

/** Entries read at once: one may hold 10,000 counts, and no request is answered meanwhile. */
const AT_ONCE = 10
/** The most entries to go back; the feed itself is cut after some minutes. */
const MAX_ENTRIES = 100_000
/** How long the store may be unavailable before pages that need it are refused: a failover takes some seconds. */
const MAX_WAIT_MILLISECONDS = 8000
/** The least time that a store gets, however long it has been unavailable. */
const MIN_WAIT_MILLISECONDS = 250
const RETRY_MILLISECONDS = 50

/**
 * Loads the point where a walk started into the directory, if it is unknown: the first page may have come from another
 * process that is ahead of this one, or from before this one was started.
 */
export class History {
  readonly #store: Store
  readonly #directory: Directory
  readonly #follower: FeedFollower
  readonly #maxWait: number
  readonly #underWay = new Map<string, Promise<void>>()

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
   * A point that the store no longer has is not an error: the walk continues by sort key then (D-33). But while the store is
   * unavailable, this throws `Unavailable`: another process may know the point, and a page that repeats some streams and
   * omits others would look like any other.
   */
  async reach(point: FeedPoint): Promise<void> {
    const name = `${point.seq} ${point.nonce}`
    const attempt = this.#underWay.get(name) ?? this.#try(point).finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, attempt)
    await attempt
  }

  /** Reads the feed as soon as it can be read: a store that is unavailable may be back soon. */
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

  async #try(point: FeedPoint): Promise<void> {
    await this.#catchUp()
    if (this.#directory.knows(point)) return
    const { oldest } = this.#directory
    if (point.seq >= oldest.seq || oldest.seq - point.seq > MAX_ENTRIES) return
    if (!(await this.#store.feed.has(point))) return
    const entries: FeedEntry[] = []
    while ((entries.at(-1)?.seq ?? 0) < oldest.seq) {
      const more = await this.#store.feed.after(entries.at(-1)?.seq ?? point.seq - 1, AT_ONCE)
      if (more.length === 0) return
      for (const entry of more) {
        const previous = entries.at(-1)
        // Entries in the middle are deleted first where their clock was wrong: the rest does not lead back to the point.
        if (previous !== undefined && !isNext(entry, previous)) return
        entries.push(entry)
      }
      // Requests are answered in between.
      await Bun.sleep(0)
    }
    this.#directory.recall(entries.filter(entry => entry.seq <= oldest.seq))
  }
}
