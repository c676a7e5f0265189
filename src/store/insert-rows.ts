import type { Transaction } from './database.ts'
import { type Part, Sql } from './sql/tag.ts'

/** A power of two. More rows bring little, and a statement has a limited number of parameters. */
const ROWS_AT_ONCE = 64

/**
 * Inserts rows of bound values. The engines take them in faster than a table of values in JSON.
 * A statement has a power of two of them, so that there are few texts to compile.
 */
export async function insertRows(
  tx: Transaction,
  into: string,
  rows: readonly (readonly Part[])[],
): Promise<void> {
  const columns = rows[0]?.length ?? 0
  for (let from = 0, count = ROWS_AT_ONCE; from < rows.length; from += count) {
    while (count > rows.length - from) count /= 2
    const values: Part[] = []
    for (let at = from; at < from + count; at++) values.push(...(rows[at] ?? []))
    await tx.run(new Sql(stringsOf(into, columns, count), values))
  }
}

/** The text around the values. Cached, because a template is identified by its strings array. */
function stringsOf(into: string, columns: number, rows: number): readonly string[] {
  const key = `${into} ${rows}`
  const known = cached.get(key)
  if (known !== undefined) return known
  const row = new Array<string>(columns - 1).fill(', ')
  const between = Array.from({ length: rows - 1 }, () => ['), (', ...row]).flat()
  const strings = [`${into} values (`, ...row, ...between, ')']
  cached.set(key, strings)
  return strings
}

const cached = new Map<string, readonly string[]>()
