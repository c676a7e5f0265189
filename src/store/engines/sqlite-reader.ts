/**
 * Reads, many to a view. A query by itself makes SQLite take and give back its locks, half a dozen calls of the system that
 * cost more than most queries. So the first query of a turn of the event loop opens a view of the store, a read
 * transaction, and those that come in the same turn share it.
 *
 * A query that begins after a command returned must see what it did:
 * - Commands of this process: the writer has the view closed before anybody hears of a command's end (`renew`).
 * - Commands of another process on the same file: immediates run right before the event loop looks at its connections
 *   again, so a view is closed before requests are read that were not there when it was opened. (One that was there in
 *   part, or is pipelined behind one that was, may be answered as if it had come a moment earlier.) Only a view that is
 *   opened inside an immediate would outlive that look: nobody reads there.
 *
 * A view lives no longer than its turn, so it does not keep the writer's log from being folded into the file.
 *
 * While the disk fails, even ending a view can fail. The connection is not trusted then: it is closed, and the next query
 * opens a new one. `renew` and `close` never throw.
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

  /** `connect` replaces a connection that failed; if it throws, queries fail. */
  constructor(first: SqliteDatabase, connect: () => SqliteDatabase) {
    this.#connection = first
    this.#connect = connect
    this.db = {
      all: query => this.#read(connection => connection.all(query)),
      get: query => this.#read(connection => connection.get(query)),
    }
  }

  /** What is asked from now on sees what has been written until now. */
  renew(): void {
    if (!this.#hasView) return
    this.#hasView = false
    try {
      // A failure of the disk may have ended the transaction already.
      if (this.#connection?.inTransaction) this.#connection.printLine('commit')
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

  #read<T>(ask: (connection: SqliteDatabase) => T): T | Promise<never> {
    try {
      return ask(this.#view())
    } catch (error) {
      return Promise.reject(translateSqliteError(error))
    }
  }

  #view(): SqliteDatabase {
    if (this.#closed) throw new Unavailable('the store is closed')
    this.#connection ??= this.#connect()
    if (this.#hasView) return this.#connection
    try {
      this.#connection.printLine('begin')
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
