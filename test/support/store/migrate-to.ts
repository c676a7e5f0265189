import { SQL } from 'bun'
import { migratePostgres } from '../../../src/store/postgres/postgres-migrate.ts'
import { type Migration, migrations } from '../../../src/store/schema/index.ts'
import { migrateSqlite } from '../../../src/store/sqlite/sqlite-migrate.ts'
import type { StorePlace } from '../server.ts'

/** Brings the schema of a store to that of an earlier release, or of this one. */
export async function migrateTo(
  { folder, databaseUrl }: StorePlace,
  list: readonly Migration[] = migrations,
): Promise<void> {
  if (databaseUrl === undefined) await migrateSqlite(`${folder}/strand.db`, list)
  else await migratePostgres(() => new SQL(databaseUrl, { max: 1 }), { migrations: list })
}
