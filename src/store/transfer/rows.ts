import type { Key } from '../../contract/page.ts'
import type { TransferType } from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { inOrderOf, keysetPage } from '../keyset.ts'
import { isOneOf, lockRows, type Scalar, sql, tableOf, verbatim } from '../sql/tag.ts'
import type { StoredLine } from './resource.ts'
import { RESOURCES } from './resources.ts'

type Row = Record<string, Scalar>

/** Converts rows to lines, in place. */
function asLines<T extends TransferType>(type: T, rows: readonly Row[]): readonly StoredLine<T>[] {
  const { decoders } = RESOURCES[type]
  for (const row of rows) {
    row.type = type
    for (const [field, decode] of decoders) row[field] = decode(row[field] ?? null) as Scalar
  }
  return rows as readonly object[] as readonly StoredLine<T>[]
}

/** The existing rows for lines of one type, by key. Locked in key order if this transaction changes them. */
export async function findRows<T extends TransferType>(
  db: Database,
  type: T,
  lines: readonly object[],
  { forUpdate = false } = {},
): Promise<Map<string, StoredLine<T>>> {
  const { select, key, keyOf, locks, isOneOf: isOneOfKeys = isOneOf } = RESOURCES[type]
  const columns = verbatim(key.join(', '))
  const pairs = () =>
    lines.map(line => Object.fromEntries(key.map(each => [each, (line as Row)[each] ?? null])))
  const isGiven =
    key.length === 1
      ? isOneOfKeys(columns, lines.map(keyOf))
      : sql`(${columns}) in (select ${columns} from ${tableOf(pairs(), key)} as given)`
  const query = sql`${select} where ${isGiven}`
  const rows = await db.all<Row>(locks && forUpdate ? sql`${query} order by ${columns}${lockRows}` : query)
  return new Map(asLines(type, rows).map(row => [keyOf(row), row]))
}

/** All rows of a type, in batches. */
export async function* allOfType<T extends TransferType>(
  db: Database,
  type: T,
  atOnce: number,
): AsyncGenerator<readonly StoredLine<T>[]> {
  const { select, ranges, order: columns, walk = inOrderOf(...columns) } = RESOURCES[type]
  const keyOf = (row: Row): Key => columns.map(column => row[column] as string | number)
  const list = { select, where: [], ...(ranges && { ranges }), order: walk, keyOf }
  let from: Key | undefined
  for (let more = true; more; ) {
    const window = { first: atOnce, direction: 'forward' as const, ...(from && { from }) }
    const page = await keysetPage<Row>(db, { ...list, window })
    const lines = asLines(type, page.rows)
    const last = page.rows.at(-1)
    if (last === undefined) return
    from = keyOf(last)
    more = page.more
    yield lines
  }
}
