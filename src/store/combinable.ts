import { isOneOf, type lockFreeRows, lockRows, Sql, sql, verbatim } from './sql/tag.ts'

/**
 * Statements that an engine may run once for several commands that share a transaction. Each is defined once, as a constant:
 * commands that use the same one at the same time are combined.
 */

/** Finds rows by the values of a column. */
export interface Lookup<Row> {
  readonly column: keyof Row & string
  /** The query up to the condition, and the column in it. */
  readonly select: Sql
  readonly by: Sql
  /** A further condition that the rows meet. */
  readonly where?: Sql
  /** Locks the rows until the end of the transaction. */
  readonly locks?: boolean
}

/** Writes a row; gets all rows of the commands that are combined. */
export type RowWrite<Row> = (rows: readonly Row[]) => Sql | Iterable<Sql>

/** Runs the statements of a write, without waiting in between. */
export async function runWrite<Row>(
  db: { run(statement: Sql): Promise<number> },
  write: RowWrite<Row>,
  rows: readonly Row[],
): Promise<void> {
  const written = write(rows)
  if (written instanceof Sql) await db.run(written)
  else await Promise.all(Array.from(written, each => db.run(each)))
}

/** The query of a look-up. Rows are locked in the order of the column, so that transactions do not deadlock. */
export function lookupQuery<Row>(
  { column, select, by, where, locks = false }: Lookup<Row>,
  values: readonly string[],
  lock: typeof lockFreeRows = lockRows,
): Sql {
  const found = sql`${select} where ${isOneOf(by, values)}`
  const matching = where === undefined ? found : sql`${found} and ${where}`
  return locks ? sql`${matching} order by ${verbatim(column)}${lock}` : matching
}
