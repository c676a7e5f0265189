import type { Transaction } from './database.ts'
import { joined, type Sql, sql } from './sql/tag.ts'

/** A power of two. More rows bring little, and a statement has a limited number of parameters. */
const ROWS_AT_ONCE = 64

/** The values of its columns. */
type Row = Parameters<typeof joined>[0]

/**
 * Inserts rows of bound values. The engines take them in faster than a table of values in JSON.
 * A statement has a power of two of them, so that there are few texts to compile.
 */
export async function insertRows(tx: Transaction, into: Sql, rows: readonly Row[]): Promise<void> {
  for (let from = 0, count = ROWS_AT_ONCE; from < rows.length; from += count) {
    while (count > rows.length - from) count /= 2
    const values = rows.slice(from, from + count).map(row => sql`(${joined(row, ', ')})`)
    await tx.run(sql`${into} values ${joined(values, ', ')}`)
  }
}
