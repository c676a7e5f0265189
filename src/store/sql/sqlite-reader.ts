/**
 * Reads, many to a view. A query by itself makes SQLite take and give back its locks, half a dozen calls of the system that
 * cost more than most queries. So the first query of a turn of the event loop opens a view of the store, a read
 * transaction, and those that come in the same turn share it.
 *
 * A query that begins after a command returned must see what it did:
 * - Commands of this process: the writer has the view closed before anybody hears of a command's end (`renew`).
 * - Commands of another process on the same file: whoever heard of one and asks here is read from its connection in a
 *   later turn than the one whose view is older than the answer. (A request that was begun before, or pipelined behind
 *   one that was, could be read in that turn. It is answered as if it had come a turn earlier.)
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
