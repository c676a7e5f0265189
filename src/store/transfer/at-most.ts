import type { TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { isOneOf, lockRows, sql, verbatim } from '../sql/tag.ts'
import type { EarlierLines } from './line-type.ts'

interface OwnedLine {
  readonly type: TransferType
  readonly user_id: string
}

/**
 * Refuses new rows beyond the maximum of a channel, those of the store and of the file counted together. Each row takes a
 * place. A channel is counted with its first line of the file: later, the store may have rows of earlier lines.
 */
export const atMost =
  (most: number, what: string, table: string) =>
  async (db: Database, lines: readonly OwnedLine[], earlier: EarlierLines | undefined) => {
    const isOwner = isOneOf(sql`user_id`, [...new Set(lines.map(line => line.user_id))])
    // In the transaction of the import, nothing may be added between the count and its end.
    if (earlier === undefined)
      await db.all(sql`select user_id from channels where ${isOwner} order by user_id${lockRows}`)
    const counts = await db.all<{ user_id: string; count: number | string }>(
      sql`select user_id, count(*) as count from ${verbatim(table)} where ${isOwner} group by user_id`,
    )
    const stored = new Map(counts.map(({ user_id, count }) => [user_id, Number(count)]))
    const taken = new Map<string, number>()
    for (const user_id of new Set(lines.map(line => line.user_id))) {
      const count = Math.min(most, stored.get(user_id) ?? 0)
      if (earlier === undefined) taken.set(user_id, count)
      else if (earlier.add(`counted ${what}`, user_id))
        for (let place = 1; place <= count; place++) earlier.add(what, user_id, String(place))
    }
    const seen = new Set<string>()
    return ({ type, user_id }: OwnedLine, row: unknown, key: string): string | undefined => {
      if (row !== undefined || seen.has(key) || earlier?.has(type, key)) return undefined
      const isTaken = (place: number) => earlier?.has(what, user_id, String(place)) ?? false
      const place = 1 + (taken.get(user_id) ?? lastTaken(most, isTaken))
      if (place > most) return `the channel of the user "${user_id}" has ${most} ${what} already`
      seen.add(key)
      taken.set(user_id, place)
      earlier?.add(type, key)
      earlier?.add(what, user_id, String(place))
      return undefined
    }
  }

/** The last place that is taken: they are taken from 1 on, without a gap. */
function lastTaken(most: number, isTaken: (place: number) => boolean): number {
  let [taken, free] = [0, most + 1]
  while (free - taken > 1) {
    const place = (taken + free) >> 1
    if (isTaken(place)) taken = place
    else free = place
  }
  return taken
}
