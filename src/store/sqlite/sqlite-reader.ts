/**
 * Reads that share a read transaction. For a single query, SQLite takes and releases its locks, half a dozen system calls
 * that cost more than most queries. So the first query of a turn of the event loop opens a view, a read transaction, and
 * later queries of the same turn share it.
 *
 * A query that starts after a command returned must see its changes:
 * - Commands of this process: the view is closed before the callers of a command learn its outcome (`renew`).
 * - Commands of another process on the same file: immediates run right before the event loop polls its connections again,
 *   so a view is closed before it reads requests that arrived after the view was opened. (A request that had arrived in
 *   part, or is pipelined behind one that had arrived, may be answered as if it had come slightly earlier.) Only a view
 *   opened inside an immediate would survive that poll; no code reads there.
 *
 * A view ends with its turn, so it does not prevent checkpoints of the writer's log.
 *
 * While the disk fails, even ending a view can fail. The connection is then closed, and the next query opens a new one.
 * `renew` and `close` never throw.
 */
import type { Database } from '../database.ts'
import { Unavailable } from '../errors.ts'
import { type SqliteDatabase, translateSqliteError } from './sqlite-connection.ts'

export class SqliteReader {
  readonly db: Database
  readonly #connect: () => SqliteDatabase
  #connection: SqliteDatabase | undefined
  #hasView = false
  #closed = false

  /** `connect` replaces a failed connection; if it throws, queries fail. */
  constructor(first: SqliteDatabase, connect: () => SqliteDatabase) {
    this.#connection = first
    this.#connect = connect
    this.db = {
      all: query => {
        try {
          return this.#view().all(query)
        } catch (error) {
          return failed(error)
        }
      },
      get: query => {
        try {
          return this.#view().get(query)
        } catch (error) {
          return failed(error)
        }
      },
    }
  }

  /** Later queries see everything written so far. */
  renew(): void {
    if (!this.#hasView) return
    this.#hasView = false
    try {
      // A disk failure may have ended the transaction already.
      if (this.#connection?.inTransaction) this.#connection.execute('commit')
      if (this.#connection?.inTransaction) this.#disconnect()
    } catch {
      this.#disconnect()
    }
  }

  close(): void {
    this.#closed = true
    this.renew()
    this.#disconnect()
  }

  #view(): SqliteDatabase {
    if (this.#closed) throw new Unavailable('the store is closed')
    this.#connection ??= this.#connect()
    if (this.#hasView) return this.#connection
    try {
      this.#connection.execute('begin')
    } catch (error) {
      this.#disconnect()
      throw error
    }
    this.#hasView = true
    setImmediate(() => this.renew())
    return this.#connection
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = undefined
  }
}

const failed = (error: unknown): Promise<never> => Promise.reject(translateSqliteError(error))
