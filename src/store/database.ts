import type { Recording } from '../domain/audit.ts'
import type { MaybePromise } from '../kit/maybe-promise.ts'
import type { Change } from './feed.ts'
import type { Sql } from './sql/tag.ts'

/** Something that answers queries: at once if it can. */
export interface Database {
  all<Row>(query: Sql): MaybePromise<Row[]>
  get<Row>(query: Sql): MaybePromise<Row | undefined>
}

/** A database inside one transaction: everything done here happens, or nothing does. */
export interface Transaction extends Database {
  /** Runs a statement and tells how many rows it touched. */
  run(statement: Sql): MaybePromise<number>
  /**
   * Holds the rows of `table` that the query gives until the end of the transaction, against others who would change them.
   * Where there is only one writer, nothing has to be held.
   */
  lock(query: Sql, table: string): Promise<void>
  /** Writes a change into the feed when the command ends, in the same transaction. */
  publish(change: Change): void
  /** Writes a row of the audit log when the command ends, in the same transaction, if the command has an author. */
  record(recording: Recording): void
}
