import {
  findNote,
  listFields,
  listReferences,
  type TransferLine,
  type TransferType,
} from '../../contract/resources/transfer.ts'
import type { Database } from '../database.ts'
import { keysetPage, type List } from '../keyset.ts'
import { type KeyedOrder, orderBy } from '../keyset-order.ts'
import {
  isOneOf,
  lockRows,
  type Scalar,
  type Sql,
  sql,
  type TableRow,
  valuesTable,
  verbatim,
} from '../sql/tag.ts'
import { type Claim, hasValues, idClaim, type StoredLine, type StoredRows } from './line-type.ts'

/** Converts columns stored differently from the field: booleans as 1 and 0, JSON as text, null for a missing secret. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  boolean: value => (value === null ? undefined : value === 1),
  array: value => JSON.parse(String(value)),
  secret: value => value ?? undefined,
}

type Decoder = (value: Scalar) => unknown

/** Returns a function that converts rows to lines, in place. `own` decodes columns whose form the schema of the line does not show. */
export function lineReader<T extends TransferType>(
  type: T,
  own: Readonly<Record<string, (value: never) => unknown>> = {},
) {
  const decoders = lineFields(type).flatMap(([field, schema]) => {
    const kind = findNote(schema, 'secret') === undefined ? (schema as { type?: string }).type : 'secret'
    const decode = own[field] ?? DECODERS[kind ?? '']
    return decode === undefined ? [] : [[field, decode as (value: Scalar) => Scalar] as const]
  })
  return (rows: readonly Record<string, Scalar>[]): readonly StoredLine<T>[] => {
    for (const row of rows) {
      row.type = type
      for (const [field, decode] of decoders) row[field] = decode(row[field] ?? null)
    }
    return rows as readonly object[] as readonly StoredLine<T>[]
  }
}

export const lineFields = (type: TransferType) =>
  Object.entries(listFields(type)).filter(([field]) => field !== 'type')

/** All rows of a list as lines, in batches. */
export async function* readAll<Line extends object>(
  db: Database,
  list: Pick<List<never>, 'select' | 'ranges'> & { readonly order: KeyedOrder },
  asLines: (rows: readonly Record<string, Scalar>[]) => readonly Line[],
  atOnce: number,
): AsyncGenerator<readonly Line[]> {
  for (let window = { first: atOnce, direction: 'forward' as const }; ; ) {
    const { rows, more } = await keysetPage<Record<string, Scalar>>(db, { ...list, window })
    const lines = asLines(rows)
    const last = lines.at(-1)
    if (last !== undefined) yield lines
    if (last === undefined || !more) return
    window = { ...window, ...{ from: list.order.sortKey(last) } }
  }
}

interface StoredIn {
  readonly table: string
  /** One or two columns. Default: `id`. */
  readonly key?: readonly [string, string?]
  /** Default: the fields of a line, from columns of the same names. */
  readonly select?: Sql
  /** The order of an export, by indexed columns that never change. Default: by the key. */
  readonly order?: KeyedOrder
}

/**
 * The rows of a table that have the fields of lines, with what most types have in common: nothing to check, a claim to the
 * key if it is one column, and rows that are current if they have every value that is given.
 */
export function storedRows<T extends TransferType>(
  type: T,
  { table, key = ['id'], select, order }: StoredIn,
) {
  const [first, second] = key
  const names = second === undefined ? [first] : [first, second]
  const columns = verbatim(names.join(', '))
  const asLines = lineReader(type)
  const list = {
    select:
      select ??
      verbatim(
        `select ${lineFields(type)
          .map(([field]) => field)
          .join(', ')} from ${table}`,
      ),
    order: order ?? orderBy(...names),
  }
  const lineKey = (line: object): string => {
    const values = line as TableRow
    return second === undefined ? String(values[first]) : `${values[first]} ${values[second]}`
  }
  const rows: StoredRows<T> = {
    type,
    table,
    references: listReferences(type),
    lineKey,
    async find(db, lines, { forUpdate = false } = {}) {
      const isGiven =
        second === undefined
          ? isOneOf(columns, lines.map(lineKey))
          : sql`(${columns}) in (select ${columns} from ${valuesTable(lines as TableRow[], names)} as given)`
      const query = sql`${list.select} where ${isGiven}`
      // Of a pair only the time changes, whatever it was.
      const locks = forUpdate && second === undefined
      const found = await db.all<Record<string, Scalar>>(
        locks ? sql`${query} order by ${columns}${lockRows}` : query,
      )
      return new Map(asLines(found).map(row => [lineKey(row), row]))
    },
    all: (db, atOnce) => readAll(db, list, asLines, atOnce),
  }
  return {
    ...rows,
    /** The columns of the key. */
    key: names,
    checks: [],
    claims: (line: TransferLine<T>): readonly Claim[] =>
      second === undefined ? [idClaim(type, lineKey(line))] : [],
    isCurrent: hasValues as (row: object, line: object) => boolean,
  }
}
