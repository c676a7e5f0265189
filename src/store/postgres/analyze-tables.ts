import type { SQL } from 'bun'

/** Smaller tables are left to autovacuum: the plans for a table that was empty when it was analyzed are bad once it is not. */
const LARGE_BYTES = 1_000_000
/** How long it waits for a table that is being vacuumed or changed, before it leaves that table out. */
const LOCK_MILLISECONDS = 400

/** Large tables without statistics, as after a restore, and with `again` all large tables. */
async function findTables(connection: SQL, again: boolean): Promise<readonly string[]> {
  const tables: { name: string }[] = await connection.unsafe(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
       and pg_has_role(c.relowner, 'usage') and pg_relation_size(c.oid) > ${LARGE_BYTES}
       and (${again} or c.reltuples < 0)
     order by 1`,
  )
  return tables.map(({ name }) => name)
}

/** Whether no large table lacks statistics. */
export async function areTablesAnalyzed(connection: SQL): Promise<boolean> {
  return (await findTables(connection, false)).length === 0
}

/**
 * Collects the statistics that PostgreSQL chooses plans by: of large tables that have none, and `again` of all large tables,
 * as after a migration with new columns and indexes. It reads a sample, and blocks neither reads nor writes.
 */
export async function analyzeTables(
  connection: SQL,
  report: (line: string) => void,
  { again }: { readonly again: boolean },
): Promise<void> {
  for (const name of await findTables(connection, again)) {
    report(`analyzing ${name}`)
    await connection
      .begin(async tx => {
        await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
        await tx.unsafe(`analyze ${name}`)
      })
      .catch((error: Error) =>
        report(`analyzing ${name} failed, which is left to autovacuum: ${error.message}`),
      )
  }
}
