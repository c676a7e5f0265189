import type { Database as Sqlite } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { INDEXES_SET_ASIDE } from '../commands/indexes.ts'
import { withSqlite } from './sqlite-connection.ts'

/** Whether a large import is running, or has crashed. */
export function hasMissingIndexes(file: string): boolean {
  return existsSync(file) && withSqlite(file, 'read', missingIn).length > 0
}

/**
 * Rebuilds the indexes that an import has set aside, before any migration. One per transaction, since that import may be
 * running and wait for the lock.
 */
export function restoreIndexes(file: string): void {
  withSqlite(file, 'write', connection => {
    for (let left = 1; left > 0; ) {
      connection.run('begin immediate')
      const [first, ...others] = missingIn(connection)
      if (first !== undefined) connection.run(first)
      connection.run('update facts set value = ? where name = ?', [JSON.stringify(others), INDEXES_SET_ASIDE])
      connection.run('commit')
      left = others.length
    }
  })
}

/** The statements that create them. */
function missingIn(connection: Sqlite): string[] {
  const table = connection.query("select 1 from sqlite_schema where name = 'facts'").get()
  if (table === null) return []
  const fact = connection.query('select value from facts where name = ?').get(INDEXES_SET_ASIDE)
  return fact === null ? [] : (JSON.parse((fact as { value: string }).value) as string[])
}
