import type { Database } from '../database.ts'
import type { Change, FeedEntry, FeedPoint } from '../feed.ts'
import { limitedTo, sql } from '../sql/tag.ts'

interface FeedRow {
  readonly seq: number | string
  readonly nonce: string
  readonly previous: string
  readonly entry: string
}

/** An entry may hold 10,000 viewer counts, which are a few hundred kilobytes. */
const MAX_BYTES = 1_000_000

export const feedQueries = (db: Database) => ({
  /** The end of the feed. */
  head: async (): Promise<FeedPoint> => {
    const row = await db.get<{ seq: number | string; nonce: string }>(
      sql`select seq, nonce from feed_head where id = 1`,
    )
    return { seq: Number(row?.seq ?? 0), nonce: row?.nonce ?? '' }
  },

  /** Whether the feed still contains this point. */
  has: async ({ seq, nonce }: FeedPoint): Promise<boolean> => {
    const row = await db.get<{ nonce: string }>(sql`select nonce from feed where seq = ${seq}`)
    return row?.nonce === nonce
  },

  /** The entries after `seq`, oldest first: at most so many, and fewer if they are large, but at least one if there is any. */
  after: async (seq: number, limit: number): Promise<FeedEntry[]> => {
    const rows = await db.all<FeedRow>(
      sql`select seq, nonce, previous, entry from (
            select seq, nonce, previous, entry,
              sum(octet_length(entry)) over (order by seq) - octet_length(entry) as bytes_before
            from feed where seq > ${seq} order by seq${limitedTo(limit)}) entries
          where bytes_before < ${MAX_BYTES} order by seq`,
    )
    return rows.map(({ seq, nonce, previous, entry }) => ({
      seq: Number(seq),
      nonce,
      previous,
      change: JSON.parse(entry) as Change,
    }))
  },
})

/** The fact that records the time of the last backup. */
export const LAST_BACKUP = 'last_backup_at'

export const factQueries = (db: Database) => {
  /** A persistent fact about the installation. */
  const find = async (name: string): Promise<string | undefined> =>
    (await db.get<{ value: string }>(sql`select value from facts where name = ${name}`))?.value
  return { find, lastBackup: () => find(LAST_BACKUP) }
}
