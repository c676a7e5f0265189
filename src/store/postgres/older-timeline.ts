/**
 * A primary with an older timeline than the one that this process has used. Mostly it was cut off and has not noticed, and
 * is gone within seconds. But a failover can also be undone: an old primary wakes up, keeps its role, and the new one
 * becomes its standby. Nothing else can be written to then, so whether to go back is decided from facts: no other server
 * can be the primary, and nothing that this process has acknowledged on the newer timeline is missing.
 */
import type { FeedEntry } from '../feed.ts'

/** How long a primary with an older timeline is only waited out. */
export const OLDER_TIMELINE_MILLISECONDS = 10_000

export type FeedPoint = Pick<FeedEntry, 'seq' | 'nonce'>

/** What this process has acknowledged on one timeline. */
export class Acknowledged {
  /** The newest entry of the feed. */
  #newest: FeedPoint | undefined
  /** When a write was acknowledged that no entry proves. */
  #unprovedAt: number | undefined

  /** The log is replicated in order: an entry of the feed proves all writes that were acknowledged before it `began`. */
  note(entries: readonly FeedPoint[], began: number): void {
    const last = entries.at(-1)
    if (last === undefined) {
      this.#unprovedAt = performance.now()
      return
    }
    if (last.seq > (this.#newest?.seq ?? 0)) this.#newest = last
    if (this.#unprovedAt !== undefined && this.#unprovedAt < began) this.#unprovedAt = undefined
  }

  /** Whether a server has it all. A write that is not in the feed cannot be looked up. */
  async isOn(hasEntry: (point: FeedPoint) => Promise<boolean>): Promise<boolean> {
    if (this.#unprovedAt !== undefined) return false
    return this.#newest === undefined || hasEntry(this.#newest)
  }
}

/** Why this process does not go back, and what an operator has to do; undefined if it may. */
export function reasonToStay(servers: {
  /** Servers that neither answer as a standby nor are the one in question. */
  readonly unknown: readonly string[]
  readonly hasAcknowledged: boolean
}): string | undefined {
  if (servers.unknown.length > 0)
    return `${servers.unknown.join(', ')} may be the primary with the newer timeline: make it answer, as primary or as standby, or remove it from DATABASE_URL, and restart this process`
  if (!servers.hasAcknowledged)
    return 'writes that this process has acknowledged are missing there: promote the server that has them, or, if they are given up, restart this process'
  return undefined
}
