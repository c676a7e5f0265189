import { SQLiteError, Database as Sqlite, type Statement } from 'bun:sqlite'
import type { Eventual } from '../../kit/eventual.ts'
import { Conflict, Unavailable } from '../errors.ts'
import { sqliteFlavor } from './flavors.ts'
import type { Writable } from './run-command.ts'
import { render, type Scalar, type Sql } from './tag.ts'

/**
 * Every connection: a write-ahead log that is forced to disk at each commit, references checked, and a wait of a few
 * seconds for another process that holds the lock.
 */
export function openSqlite(file: string, mode: 'read' | 'write'): Sqlite {
  const connection = new Sqlite(file, mode === 'read' ? { readonly: true } : { create: true })
  connection.run('pragma busy_timeout = 5000')
  if (mode === 'write') {
    connection.run('pragma journal_mode = wal')
    connection.run('pragma synchronous = full')
    connection.run('pragma foreign_keys = on')
  }
  connection.run('pragma mmap_size = 1073741824')
  return connection
}

export interface SqliteDatabase extends Writable {
  /** Runs a statement without values at once: begin, commit and their kin. */
  say(words: string): void
  /** Lets go of the file; a statement that was not finalized would hold on to it. */
  close(): void
}

/**
 * Statements are compiled once per text and connection. There are about a hundred texts; their number does not grow.
 * `beforeEach` is called before a query or statement, not before the words of `say`.
 */
export function sqliteDatabase(connection: Sqlite, beforeEach: () => void = () => undefined): SqliteDatabase {
  const statements = new Map<string, Statement>()
  const prepared = (text: string): Statement => {
    const known = statements.get(text)
    if (known !== undefined) return known
    const statement = connection.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const perform = <T>(query: Sql, use: (statement: Statement, values: Scalar[]) => T): Eventual<T> => {
    try {
      beforeEach()
      const { text, values } = render(query, sqliteFlavor)
      return use(prepared(text), values)
    } catch (error) {
      return Promise.reject(translateSqliteError(error))
    }
  }
  return {
    all: <Row>(query: Sql) => perform(query, allRows<Row>),
    get: <Row>(query: Sql) => perform(query, firstRow<Row>),
    run: query => perform(query, changedRows),
    lock: () => Promise.resolve(),
    freeChain: chain => chain,
    say: words => {
      prepared(words).run()
    },
    close: () => {
      for (const statement of statements.values()) statement.finalize()
      connection.close()
    },
  }
}

const allRows = <Row>(statement: Statement, values: Scalar[]) => statement.all(...values) as Row[]
const firstRow = <Row>(statement: Statement, values: Scalar[]) =>
  (statement.get(...values) ?? undefined) as Row | undefined
const changedRows = (statement: Statement, values: Scalar[]) => statement.run(...values).changes

/** What SQLite throws, in the words of the port. */
export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  const code = error.code ?? ''
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|FOREIGNKEY)$/.test(code)) return new Conflict(error.message)
  if (/^SQLITE_(BUSY|FULL|IOERR|CANTOPEN|READONLY|LOCKED|NOMEM|CORRUPT|NOTADB)/.test(code)) {
    return new Unavailable(`${code}: ${error.message}`)
  }
  return error
}
