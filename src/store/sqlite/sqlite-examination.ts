import { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { lazy } from '../../kit/lazy.ts'
import { migrations } from '../schema/index.ts'
import { sqliteDialect } from '../sql/dialects.ts'
import { splitStatements } from '../sql/statements.ts'
import { withSqlite } from './sqlite-connection.ts'

/** `quick` checks the structure of every page; `full` also checks indexes against tables, and foreign keys. */
type Depth = 'quick' | 'full'

const MAX_VIOLATIONS = 10

/** The violations that SQLite reports; empty if the file is intact. */
export function integrityErrors(file: string, depth: Depth): string[] {
  try {
    return withSqlite(file, 'read', connection => {
      if (depth === 'quick') return checked(connection, 'quick_check')
      const foreign = foreignPartsIn(connection)
      if (foreign.length > 0) return foreign
      const violations = checked(connection, 'integrity_check')
      if (violations.length > 0) return violations
      const dangling = connection.query('pragma foreign_key_check').values() as [string, number, string][]
      return dangling
        .slice(0, MAX_VIOLATIONS)
        .map(([table, row, parent]) => `row ${row} of ${table} refers to a missing row of ${parent}`)
    })
  } catch (error) {
    return [(error as Error).message]
  }
}

function checked(connection: Sqlite, check: 'quick_check' | 'integrity_check'): string[] {
  const found = connection.query(`pragma ${check}(${MAX_VIOLATIONS})`).values() as [string][]
  return found.map(([text]) => text).filter(text => text !== 'ok')
}

/** Parts that a store never has and that could run foreign code on reads or writes, such as other triggers and views. */
function foreignPartsIn(connection: Sqlite): string[] {
  const known = ownTriggers()
  const found = connection
    .query(
      `select type, name from sqlite_schema
       where (type not in ('table', 'index') or sql like 'create virtual %')
         and not (type = 'trigger' and sql in (${known.map(() => '?').join(', ')})) limit ${MAX_VIOLATIONS}`,
    )
    .values(...known) as [string, string][]
  return found.map(
    ([type, name]) => `the ${type} ${JSON.stringify(name.slice(0, 64))} is not part of a store`,
  )
}

/** The triggers that migrations create, as SQLite keeps their text. */
const ownTriggers = lazy(() =>
  migrations.flatMap(({ text }) =>
    splitStatements(text(sqliteDialect)).flatMap(statement => {
      const [, definition] = /^create trigger if not exists (.*)$/s.exec(statement) ?? []
      return definition === undefined ? [] : [`CREATE TRIGGER ${definition}`]
    }),
  ),
)

/**
 * Whether another process has the store open: each holds a shared lock on the file, so an exclusive lock is refused. A file
 * that is not a valid store counts as unused.
 */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) return false
  let connection: Sqlite | undefined
  try {
    connection = new Sqlite(file, { readwrite: true, create: false })
    connection.run('pragma locking_mode = exclusive')
    connection.run('begin exclusive')
    connection.run('rollback')
    return false
  } catch (error) {
    return String((error as { code?: string }).code).startsWith('SQLITE_BUSY')
  } finally {
    connection?.close()
  }
}
