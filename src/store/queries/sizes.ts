import type { Database } from '../database.ts'
import { isOneOf, sql } from '../sql/tag.ts'
import { WORLD_TABLES } from '../tables.ts'

/** The database may contain other tables; only those of the schema are listed. */
const TABLES: readonly string[] = [...WORLD_TABLES, 'feed']

export interface TableSize {
  readonly name: string
  readonly bytes: number
}

export const sizeQueries = (db: Database, engine: 'sqlite' | 'postgres') => ({
  /**
   * The size of each table including indexes. PostgreSQL knows it without reading them; SQLite would have to read the whole
   * file, so the result is empty there.
   */
  tables: async (): Promise<TableSize[]> => {
    if (engine === 'sqlite') return []
    const rows = await db.all<TableSize>(
      sql`select relname as name, pg_total_relation_size(oid) as bytes from pg_class
          where relnamespace = cast(current_schema() as regnamespace) and relkind = 'r'
            and ${isOneOf(sql`relname`, TABLES)} order by relname`,
    )
    return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }))
  },
})
