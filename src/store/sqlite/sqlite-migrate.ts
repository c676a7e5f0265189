import type { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import {
  type Migrated,
  readVersion,
  recordVersion,
  type StoredVersion,
  schemaFor,
  versionTable,
} from '../engine/migrate.ts'
import {
  type AppliedMigration,
  requireMigratable,
  requireServable,
  SchemaRefused,
  type SchemaState,
} from '../engine/schema-state.ts'
import { type Migration, migrations } from '../schema/index.ts'
import { sqliteDialect } from '../sql/dialects.ts'
import { addedColumn, splitStatements } from '../sql/statements.ts'
import { withSqlite } from './sqlite-connection.ts'
import { isInUse } from './sqlite-examination.ts'

/**
 * Brings the schema up to date in one transaction under SQLite's write lock: a second process that starts meanwhile waits,
 * and finds nothing to do.
 */
export async function migrateSqlite(
  file: string,
  list: readonly Migration[] = migrations,
): Promise<Migrated> {
  requireUnused(file, list)
  return withSqlite(file, 'create', connection => {
    connection.run('begin immediate')
    const migrated = bringUpToDate(connection, list)
    connection.run('commit')
    return migrated
  })
}

/** A server of an earlier version that has the store open would fail after a migration that is not additive. */
function requireUnused(file: string, list: readonly Migration[]): void {
  if (!existsSync(file)) return
  const { version } = sqliteSchema(file, list)
  const pending = list.findIndex(({ additive }, index) => index >= version && !additive)
  if (version > 0 && pending >= 0 && isInUse(file))
    throw new SchemaRefused(
      `migration ${pending + 1} is not additive, and another process has the store open: stop the server, and try again`,
    )
}

function bringUpToDate(connection: Sqlite, list: readonly Migration[]): Migrated {
  const state = schemaFor(appliedIn(connection), sqliteDialect, list)
  const { version: current, known, verdict } = requireMigratable(state)
  if (verdict === 'compatible') return { version: current, applied: 0 }
  connection.run(versionTable(sqliteDialect))
  for (const [index, migration] of list.entries()) {
    if (index < current) continue
    run(connection, migration.text(sqliteDialect))
    connection.run(recordVersion(index + 1, list, sqliteDialect))
  }
  return { version: known, applied: known - current }
}

/** Throws unless this program can serve the store without migrating it. */
export function requireSchema(file: string): Migrated {
  const { version } = requireServable(existsSync(file) ? sqliteSchema(file) : schemaFor([], sqliteDialect))
  return { version, applied: 0 }
}

export const sqliteSchema = (file: string, list?: readonly Migration[]): SchemaState =>
  withSqlite(file, 'read', connection => schemaFor(appliedIn(connection), sqliteDialect, list))

function appliedIn(connection: Sqlite): AppliedMigration[] {
  const table = connection.query("select 1 from sqlite_schema where name = 'schema_versions'").get()
  if (table === null) return []
  const rows = connection
    .query('select version, checksum, additive from schema_versions order by version')
    .all() as StoredVersion[]
  return rows.map(readVersion)
}

function run(connection: Sqlite, text: string): void {
  for (const statement of splitStatements(text)) {
    const added = addedColumn(statement)
    if (added === undefined) connection.run(statement)
    else if (!hasColumn(connection, added.table, added.column)) connection.run(added.plain)
  }
}

function hasColumn(connection: Sqlite, table: string, column: string): boolean {
  const found = connection.query('select 1 from pragma_table_info(?) where name = ?').get(table, column)
  return found !== null
}
