import type { Database } from '../database.ts'
import type { Change, FeedEntry } from '../feed.ts'
import { sql } from '../sql/tag.ts'

export const feedQueries = (db: Database) => ({
  /** The number of the newest entry. */
  head: async (): Promise<number> => {
    const row = await db.get<{ seq: number | string }>(sql`select seq from feed_head where id = 1`)
    return Number(row?.seq ?? 0)
  },

  /** The entries behind `seq`, oldest first. */
  after: async (seq: number, limit: number): Promise<FeedEntry[]> => {
    const rows = await db.all<{ seq: number | string; entry: string }>(
      sql`select seq, entry from feed where seq > ${seq} order by seq limit ${limit}`,
    )
    return rows.map(row => ({ seq: Number(row.seq), change: JSON.parse(row.entry) as Change }))
  },
})

export const factQueries = (db: Database) => ({
  /** A lasting note of the installation about itself. */
  find: async (name: string): Promise<string | undefined> =>
    (await db.get<{ value: string }>(sql`select value from facts where name = ${name}`))?.value,
})
