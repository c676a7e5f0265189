import { LruCache } from '../kit/lru-cache.ts'

/** How many viewers are remembered of all media servers together. */
const MOST_VIEWERS = 100_000
const MOST_CHANNELS = 10_000

/**
 * Counts viewers of media servers that report each of them and have no API that counts them. A lost report makes the count
 * wrong by one until the process is restarted. Viewers may ask for any name, so channels that are not used are forgotten
 * first: those that are live are asked for every few seconds.
 */
export class ViewerSessions {
  readonly #byLogin = new LruCache<Set<string>>(MOST_CHANNELS, { dropped: () => this.#recount() })
  #count = 0

  note(login: string, viewer: string, isThere: boolean): void {
    const known = this.#byLogin.get(login)
    const viewers = known ?? new Set()
    const before = viewers.size
    if (!isThere) viewers.delete(viewer)
    else if (this.#count < MOST_VIEWERS) viewers.add(viewer)
    this.#count += viewers.size - before
    if (known === undefined) this.#byLogin.set(login, viewers)
  }

  /** Whether viewers of a channel were ever reported: otherwise another source counts them. */
  knows(login: string): boolean {
    return this.#byLogin.get(login) !== undefined
  }

  countViewers(login: string): number {
    return this.#byLogin.get(login)?.size ?? 0
  }

  #recount(): void {
    this.#count = 0
    for (const [, { size }] of this.#byLogin) this.#count += size
  }
}
