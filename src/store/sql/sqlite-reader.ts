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
 */
import type { Database as Sqlite } from 'bun:sqlite'
import { type SqliteDatabase, sqliteDatabase } from './sqlite-connection.ts'

export class SqliteReader {
  readonly db: SqliteDatabase
  readonly #connection: Sqlite
  #hasView = false

  constructor(connection: Sqlite) {
    this.#connection = connection
    this.db = sqliteDatabase(connection, () => this.#look())
  }

  /** What is asked from now on sees what has been written until now. */
  renew(): void {
    if (!this.#hasView) return
    this.#hasView = false
    // A failure of the disk may have ended the transaction already.
    if (this.#connection.inTransaction) this.db.say('commit')
  }

  close(): void {
    this.renew()
    this.db.close()
  }

  #look(): void {
    if (this.#hasView) return
    this.db.say('begin')
    this.#hasView = true
    setImmediate(() => this.renew())
  }
}
