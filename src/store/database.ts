import type { Recording } from '../domain/audit.ts'
import type { Lookup, RowWrite } from './combinable.ts'
import type { Change } from './feed.ts'
import type { Query, Sql } from './sql/tag.ts'

/** Answers queries. */
export interface Database {
  all<Row>(query: Query): Promise<Row[]>
  get<Row>(query: Query): Promise<Row | undefined>
}

/** A database within one transaction: all changes are applied, or none. */
export interface Transaction extends Database {
  /** Runs a statement and returns the number of affected rows. */
  run(statement: Query): Promise<number>
  /**
   * Locks the rows of `table` that the query returns until the end of the transaction. Does nothing where there is only one
   * writer.
   */
  lock(query: Sql, table: string): Promise<void>
  /** The rows that a look-up finds for these values. May be combined with those of other commands. */
  lookUp<Row>(lookup: Lookup<Row>, values: readonly string[]): Promise<Row[]>
  /** Writes a row. May be combined with those of other commands. */
  write<Row>(write: RowWrite<Row>, row: Row): Promise<void>
  /** Adds a change to the feed when the command ends, in the same transaction. */
  publish(change: Change): void
  /** Notes that there are messages to deliver, for this process to start at once when the command has been committed. */
  announce(): void
  /** Adds a row to the audit log when the command ends, in the same transaction, if the command has an author. */
  record(recording: Recording): void
}
