/** The orders of lists, and the rows after a key as conditions that an index serves. */
import type { Key } from '../contract/page.ts'
import { all, joined, type Parameter, type Scalar, type Sql, sql, verbatim } from './sql/tag.ts'

/** A part of a list, and the order of its rows. */
export interface Part {
  readonly where?: Sql
  readonly order: Sql
}

/** The values of a key, or their parameters. */
type Place = readonly (Scalar | Parameter)[]

export interface Order {
  all(down: boolean): Part
  /** The rows after a key, as consecutive parts that an index serves. */
  after(place: Place, down: boolean): readonly Part[]
  /** The values of a key as the columns have them. Default: as they are. */
  toCursorValues?(key: Key): readonly Scalar[]
}

/** An order that knows the key of a row, which has its columns under their names. */
export interface KeyedOrder extends Order {
  sortKey(row: object): Key
}

const pickValues = (row: object, columns: readonly string[]): Key =>
  columns.map(column => (row as Readonly<Record<string, string | number>>)[column] ?? '')

function towards(down: boolean, ...columns: readonly string[]): Sql {
  return verbatim(` order by ${columns.map(column => `${column} ${down ? 'desc' : 'asc'}`).join(', ')}`)
}

/** By columns compared together as a row, all in one direction. */
export function orderBy(...columns: readonly string[]): KeyedOrder {
  const row = verbatim(columns.join(', '))
  const [up, down] = [towards(false, ...columns), towards(true, ...columns)]
  return {
    all: falling => ({ order: falling ? down : up }),
    after: (from, falling) => {
      const place = joined(from, ', ')
      return falling
        ? [{ where: sql`(${row}) < (${place})`, order: down }]
        : [{ where: sql`(${row}) > (${place})`, order: up }]
    },
    sortKey: found => pickValues(found, columns),
  }
}

/**
 * The rows with certain values in columns, by other columns. Written as a range that starts with those columns: with
 * equality, PostgreSQL could follow an index on the other columns alone, past any number of rows with other values.
 */
export function orderByWithin(
  values: Readonly<Record<string, string | number>>,
  columns: readonly string[],
): KeyedOrder {
  const within = Object.keys(values)
  const names = [...within, ...columns]
  const [first, row] = [verbatim(within.join(', ')), verbatim(names.join(', '))]
  const [up, down] = [towards(false, ...names), towards(true, ...names)]
  const place = joined(Object.values(values), ', ')
  const [lowest, highest] = [sql`(${first}) >= (${place})`, sql`(${first}) <= (${place})`]
  return {
    all: falling => ({ where: sql`${lowest} and ${highest}`, order: falling ? down : up }),
    after: (from, falling) => {
      const key = joined([...Object.values(values), ...from], ', ')
      return falling
        ? [{ where: sql`${lowest} and (${row}) < (${key})`, order: down }]
        : [{ where: sql`(${row}) > (${key}) and ${highest}`, order: up }]
    },
    sortKey: found => pickValues(found, columns),
  }
}

/**
 * By columns, and rows that are equal in them by a decimal id as a number: the shorter is the smaller. All in one direction.
 * SQLite cannot use an index for a row comparison that contains an expression, so ids of the same length are one part,
 * longer or shorter ones the next, and rows that differ in the columns the last. Nor does it see that an expression which
 * is compared with one value needs no sorting, so each part names only what its rows differ in.
 */
export function inOrderThenByNumber(columns: readonly string[], id: string): KeyedOrder {
  const length = `length(${id})`
  const row = verbatim(columns.join(', '))
  const [column, digits] = [verbatim(id), verbatim(length)]
  return {
    all: down => ({ order: towards(down, ...columns, length, id) }),
    after: (from, down) => {
      const place = from.slice(0, columns.length)
      const [size = 0, last = ''] = from.slice(columns.length)
      const equal = columns.map((name, index) => sql`${verbatim(name)} = ${place[index] ?? ''}`)
      const parts = [
        {
          where: all([
            ...equal,
            sql`${digits} = ${size}`,
            down ? sql`${column} < ${last}` : sql`${column} > ${last}`,
          ]),
          order: towards(down, id),
        },
        {
          where: all([...equal, down ? sql`${digits} < ${size}` : sql`${digits} > ${size}`]),
          order: towards(down, length, id),
        },
      ]
      if (columns.length === 0) return parts
      const values = joined(place, ', ')
      return [
        ...parts,
        {
          where: down ? sql`(${row}) < (${values})` : sql`(${row}) > (${values})`,
          order: towards(down, ...columns, length, id),
        },
      ]
    },
    sortKey: found => {
      const [digits = ''] = pickValues(found, [id])
      return [...pickValues(found, columns), String(digits).length, digits]
    },
  }
}

export const BY_NUMBER = inOrderThenByNumber([], 'id')
export const BY_ID = orderBy('id')

export const decimalSortKey = BY_NUMBER.sortKey
export const idSortKey = BY_ID.sortKey

/** Negative if `a` comes before `b` in ascending order. */
export function compareKeys(a: Key, b: Key): number {
  for (const [index, mine] of a.entries()) {
    const other = b[index] ?? ''
    if (mine !== other) return mine < other ? -1 : 1
  }
  return 0
}
