import type { TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { isOneOf, lockRows, sql, verbatim } from '../sql/tag.ts'
import type { EarlierLines } from './resource.ts'

interface OwnedLine {
  readonly type: TransferType
  readonly user_id: string
}

/** Refuses new rows beyond the maximum of a channel, those of the store and of the file counted together. */
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
    const added = new Map<string, number>()
    const seen = new Set<string>()
    return ({ type, user_id }: OwnedLine, row: unknown, key: string): string | undefined => {
      if (row !== undefined || seen.has(key) || earlier?.has(type, key)) return undefined
      const isTaken = (place: number) => earlier?.has(`place of ${type}`, user_id, String(place)) ?? false
      const place = 1 + (added.get(user_id) ?? lastTaken(most, isTaken))
      if ((stored.get(user_id) ?? 0) + place > most)
        return `the channel of the user "${user_id}" has ${most} ${what} already`
      seen.add(key)
      added.set(user_id, place)
      earlier?.add(type, key)
      earlier?.add(`place of ${type}`, user_id, String(place))
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
