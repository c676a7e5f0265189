import type { Transaction } from './database.ts'
import { type Part, Sql } from './sql/tag.ts'

/** A power of two. More rows bring little, and a statement has a limited number of parameters. */
const ROW_BATCH_SIZE = 64

/**
 * Inserts rows of bound values. The engines take them in faster than a table of values in JSON.
 * A statement has a power of two of them, so that there are few texts to compile.
 */
export async function insertRows<T>(
  tx: Transaction,
  into: string,
  items: readonly T[],
  rowOf: (item: T) => readonly Part[],
): Promise<void> {
  for (const statement of rowInserts(into, items, rowOf)) await tx.run(statement)
}

/** The statements that insert them. `tail` follows the rows, as `on conflict` does. */
export function* rowInserts<T>(
  into: string,
  items: readonly T[],
  rowOf: (item: T) => readonly Part[],
  tail = '',
): Generator<Sql> {
  for (let from = 0, count = ROW_BATCH_SIZE; from < items.length; from += count) {
    while (count > items.length - from) count /= 2
    const values: Part[] = []
    for (const item of items.slice(from, from + count)) for (const value of rowOf(item)) values.push(value)
    yield new Sql(templateStrings(into, tail, count, values.length / count), values)
  }
}

/** The text around the values. Cached, because a template is identified by its strings array. */
function templateStrings(into: string, tail: string, rows: number, columns: number): readonly string[] {
  const key = `${into} ${tail} ${rows}`
  const known = cached.get(key)
  if (known !== undefined) return known
  const row = new Array<string>(columns - 1).fill(', ')
  const others = Array.from({ length: rows - 1 }, () => ['), (', ...row])
  const strings = [`${into} values (`, ...row, ...others.flat(), `)${tail}`]
  cached.set(key, strings)
  return strings
}

const cached = new Map<string, readonly string[]>()
