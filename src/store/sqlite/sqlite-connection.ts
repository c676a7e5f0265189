import { constants, SQLiteError, Database as Sqlite, type Statement } from 'bun:sqlite'
import type { Writable } from '../engine/run-command.ts'
import { Conflict, Unavailable } from '../errors.ts'
import { sqliteDialect } from '../sql/dialects.ts'
import { type Query, render } from '../sql/tag.ts'

/** A larger write-ahead log is truncated after a checkpoint. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024

/** The page cache of each connection. With SQLite's default of 2 MB, most rows that a request reads would need a system call. */
const CACHE_KIBIBYTES = 16 * 1024

/** Only `create` creates a missing file. */
type Mode = 'read' | 'write' | 'create'

/**
 * Every connection uses a write-ahead log that is synced at each commit, checks foreign keys, and waits a few seconds for the
 * lock of another process. The file is not mapped into memory: an unreadable page would then kill the process with SIGBUS
 * instead of failing one query. Mapping is not faster either; with writes in between it is slower.
 */
export function openSqlite(file: string, mode: Mode): Sqlite {
  const options = mode === 'read' ? { readonly: true } : { readwrite: true, create: mode === 'create' }
  const connection = new Sqlite(file, options)
  try {
    connection.run('pragma busy_timeout = 5000')
    connection.run('pragma mmap_size = 0')
    connection.run(`pragma cache_size = -${CACHE_KIBIBYTES}`)
    if (mode !== 'read') {
      connection.run('pragma journal_mode = wal')
      connection.run('pragma synchronous = full')
      connection.run('pragma foreign_keys = on')
      connection.run(`pragma journal_size_limit = ${MAX_LOG_BYTES}`)
    }
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens a file for one piece of work. */
export function withSqlite<T>(file: string, mode: Mode, work: (connection: Sqlite) => T): T {
  const connection = openSqlite(file, mode)
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}

export interface SqliteDatabase extends Writable {
  /** Runs a statement without parameters, such as begin or commit. */
  execute(text: string): void
  readonly inTransaction: boolean
  /** Never throws. Finalizes all statements first, because an open one would keep the file open. */
  close(): void
  /** Closes to be replaced by a new connection, without removing the log, which the last connection would do. */
  closeKeepingLog(): void
}

/** Statements are compiled once per text and connection. The number of texts is bounded, at about a hundred. */
export function sqliteDatabase(connection: Sqlite): SqliteDatabase {
  const statements = new Map<string, Statement>()
  const prepared = (text: string): Statement => {
    const known = statements.get(text)
    if (known !== undefined) return known
    const statement = connection.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const close = () => {
    for (const statement of statements.values()) ignoringErrors(() => statement.finalize())
    ignoringErrors(() => connection.close())
  }
  return {
    // Not `async`: every read passes here, and an async function that awaits nothing costs more than its promise.
    all: <Row>(query: Query) => {
      try {
        const { text, values } = render(query, sqliteDialect)
        return Promise.resolve(prepared(text).all(...values) as Row[])
      } catch (error) {
        return Promise.reject(translateSqliteError(error))
      }
    },
    get: <Row>(query: Query) => {
      try {
        const { text, values } = render(query, sqliteDialect)
        return Promise.resolve((prepared(text).get(...values) ?? undefined) as Row | undefined)
      } catch (error) {
        return Promise.reject(translateSqliteError(error))
      }
    },
    run: async query => {
      // After some disk failures SQLite has already rolled back, and this statement alone would be committed.
      if (!connection.inTransaction) throw new Unavailable('the transaction was rolled back by SQLite')
      try {
        const { text, values } = render(query, sqliteDialect)
        return prepared(text).run(...values).changes
      } catch (error) {
        throw translateSqliteError(error)
      }
    },
    lock: async () => undefined,
    freeChain: async chain => chain,
    execute: text => {
      prepared(text).run()
    },
    get inTransaction() {
      return connection.inTransaction
    },
    close,
    closeKeepingLog: () => {
      ignoringErrors(() => connection.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1))
      close()
    },
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work()
  } catch {
    // Closing after a disk failure may fail.
  }
}

/** Failures of the disk, the file and its locks, including extended codes such as SQLITE_IOERR_READ. */
const UNAVAILABLE =
  /^SQLITE_(ABORT|BUSY|CANTOPEN|CORRUPT|FULL|INTERRUPT|IOERR|LOCKED|NOLFS|NOMEM|NOTADB|PERM|PROTOCOL|READONLY)/

/** Translates errors of SQLite to those of the store. */
export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error
  const code = error.code ?? ''
  if (/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|FOREIGNKEY)$/.test(code)) return new Conflict(error.message)
  return UNAVAILABLE.test(code) ? new Unavailable(`${code}: ${error.message}`) : error
}
