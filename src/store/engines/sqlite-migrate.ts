import type { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { sqliteDialect } from '../sql/dialects.ts'
import { addedColumn, statementsOf } from '../sql/statements.ts'
import {
  checksumsOf,
  type Migrated,
  noteVersion,
  readVersion,
  type StoredVersion,
  versionTable,
  withoutChecksum,
} from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import {
  type AppliedMigration,
  refusalOf,
  refusalToServe,
  type SchemaState,
  stateOfSchema,
} from './schema-state.ts'
import { openSqlite } from './sqlite-connection.ts'

/**
 * Brings the schema up to date in one transaction, under SQLite's own write lock: a second program that starts meanwhile
 * waits, and finds nothing to do.
 */
export async function migrateSqlite(
  file: string,
  list: readonly Migration[] = migrations,
): Promise<Migrated> {
  const connection = openSqlite(file, 'create')
  try {
    connection.run('begin immediate')
    const migrated = bringUpToDate(connection, list)
    connection.run('commit')
    return migrated
  } finally {
    connection.close()
  }
}

function bringUpToDate(connection: Sqlite, list: readonly Migration[]): Migrated {
  const applied = appliedIn(connection)
  const state = stateOfSchema(applied, checksumsOf(list, sqliteDialect))
  const refusal = refusalOf(state)
  if (refusal !== undefined) throw refusal
  if (state.verdict === 'compatible') return { version: state.version, applied: 0 }
  run(connection, versionTable(sqliteDialect))
  for (const version of withoutChecksum(applied, state.known)) {
    connection.run(noteVersion(version, list, sqliteDialect))
  }
  for (let version = state.version + 1; version <= list.length; version++) {
    run(connection, list[version - 1]?.text(sqliteDialect) ?? '')
    connection.run(noteVersion(version, list, sqliteDialect))
  }
  return { version: list.length, applied: list.length - state.version }
}

/** For a program that may not migrate: a schema that it can serve, or else it throws. */
export function requireSchema(file: string): Migrated {
  const state = existsSync(file)
    ? sqliteSchema(file)
    : stateOfSchema([], checksumsOf(migrations, sqliteDialect))
  const refusal = refusalToServe(state)
  if (refusal !== undefined) throw refusal
  return { version: state.version, applied: 0 }
}

/** What this program makes of the schema of a file. */
export function sqliteSchema(file: string): SchemaState {
  const connection = openSqlite(file, 'read')
  try {
    return stateOfSchema(appliedIn(connection), checksumsOf(migrations, sqliteDialect))
  } finally {
    connection.close()
  }
}

function appliedIn(connection: Sqlite): AppliedMigration[] {
  const table = connection.query("select 1 from sqlite_schema where name = 'schema_versions'").get()
  if (table === null) return []
  const rows = connection.query('select * from schema_versions order by version').all() as StoredVersion[]
  return rows.map(readVersion)
}

function run(connection: Sqlite, text: string): void {
  for (const statement of statementsOf(text)) {
    const added = addedColumn(statement)
    if (added === undefined) connection.run(statement)
    else if (!hasColumn(connection, added.table, added.column)) connection.run(added.plain)
  }
}

function hasColumn(connection: Sqlite, table: string, column: string): boolean {
  const found = connection.query('select 1 from pragma_table_info(?) where name = ?').get(table, column)
  return found !== null
}
