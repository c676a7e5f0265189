/** How many viewers are remembered of all media servers together. */
const MOST_VIEWERS = 100_000
const MOST_CHANNELS = 10_000

/**
 * Counts viewers of media servers that report each of them and have no API that counts them. A lost report makes the count
 * wrong by one until the process is restarted.
 */
export class ViewerSessions {
  readonly #byLogin = new Map<string, Set<string>>()
  #count = 0

  note(login: string, viewer: string, isThere: boolean): void {
    const viewers = this.#byLogin.get(login) ?? new Set()
    const before = viewers.size
    if (!isThere) viewers.delete(viewer)
    else if (this.#count < MOST_VIEWERS) viewers.add(viewer)
    this.#count += viewers.size - before
    this.#byLogin.set(login, viewers)
    if (this.#byLogin.size > MOST_CHANNELS) this.#forget(this.#byLogin.keys().next().value ?? login)
  }

  /** Whether viewers of a channel were ever reported: otherwise another source counts them. */
  knows(login: string): boolean {
    return this.#byLogin.has(login)
  }

  countOf(login: string): number {
    return this.#byLogin.get(login)?.size ?? 0
  }

  #forget(login: string): void {
    this.#count -= this.countOf(login)
    this.#byLogin.delete(login)
  }
}
