/**
 * Pages by sort key, the one place where lists are cut.
 *
 * Every list goes along an index, whatever it is filtered by, so that a page costs the same at any depth and in a store of
 * any size. An index serves a filter if its columns are the filter's followed by those of the order. Not every combination
 * of filters has an index of its own; each index would be paid for by every write. A list without one is either
 * - merged: `ranges` are parts that do have one and together are the whole list, read side by side as far as the page
 *   reaches; or
 * - picked from: `keeps` chooses among the rows of a list that is short by nature, such as what one user has. It is read in
 *   steps, and between two of them everybody else has a turn.
 */
import type { Key, Page, Window } from '../contract/page.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import type { Database } from './database.ts'
import { all, joined, limitedTo, merged, type Sql, sql, verbatim } from './sql/tag.ts'

/** Ranges that one statement merges at most; each number of them is a statement of its own. */
const MAX_MERGED = 16
/** Rows that are read at most in one step of picking. */
const MAX_STEP = 200

/** A part of a list, and the order of its rows. */
interface Part {
  readonly where?: Sql
  readonly order: Sql
}

/** How a list is ordered. */
export interface Order {
  whole(down: boolean): Part
  /** The rows behind a key, as parts that an index serves and that come one after the other. */
  beyond(from: Key, down: boolean): readonly Part[]
}

function towards(down: boolean, ...columns: readonly string[]): Sql {
  return verbatim(` order by ${columns.map(column => `${column} ${down ? 'desc' : 'asc'}`).join(', ')}`)
}

/** By columns that are compared together as a row, all in one direction. */
export function inOrderOf(...columns: readonly string[]): Order {
  const row = verbatim(columns.join(', '))
  const [up, down] = [towards(false, ...columns), towards(true, ...columns)]
  return {
    whole: falling => ({ order: falling ? down : up }),
    beyond: (from, falling) => {
      const place = joined(from, ', ')
      return falling
        ? [{ where: sql`(${row}) < (${place})`, order: down }]
        : [{ where: sql`(${row}) > (${place})`, order: up }]
    },
  }
}

/**
 * By a decimal id as a number: the shorter is the smaller. SQLite finds no place in an index by a row that has an expression
 * in it, so those of the same length are one part and those of another the next.
 */
export const BY_NUMBER: Order = {
  whole: down => ({ order: towards(down, 'length(id)', 'id') }),
  beyond: ([length = 0, id = ''], down) => [
    {
      where: down ? sql`length(id) = ${length} and id < ${id}` : sql`length(id) = ${length} and id > ${id}`,
      order: towards(down, 'id'),
    },
    {
      where: down ? sql`length(id) < ${length}` : sql`length(id) > ${length}`,
      order: towards(down, 'length(id)', 'id'),
    },
  ],
}

interface List<Row> {
  readonly select: Sql
  readonly where: readonly Sql[]
  /** Parts that together are the whole list. The order is then that of columns which are selected under their names. */
  readonly ranges?: readonly Sql[]
  readonly order: Order
  readonly descending?: boolean
  readonly window: Window
  readonly keyOf: (row: Row) => Key
  /** What is looked up for the rows of a page once it is cut. PostgreSQL may otherwise begin with the other tables. */
  readonly around?: (page: Sql) => Sql
}

/** One row more than asked for is fetched: it tells whether there is another page. */
export function keysetPage<Row>(db: Database, list: List<Row>): MaybePromise<Page<Row>> {
  const { window } = list
  const backward = window.direction === 'backward'
  return chain(rowsTowards(db, list, (list.descending ?? false) !== backward), rows => {
    const more = rows.length > window.first
    if (more) rows.length = window.first
    if (backward) rows.reverse()
    return { rows, more }
  })
}

function rowsTowards<Row>(db: Database, list: List<Row>, down: boolean): MaybePromise<Row[]> {
  const { order, window } = list
  const most = window.first + 1
  const parts = window.from === undefined ? [order.whole(down)] : order.beyond(window.from, down)
  let rows: MaybePromise<Row[]> = []
  for (const part of parts) {
    rows = chain(rows, found => {
      if (found.length === most) return found
      const next = rowsOfPart(db, list, part, down, most - found.length)
      return found.length === 0 ? next : chain(next, more => [...found, ...more])
    })
  }
  return rows
}

function rowsOfPart<Row>(
  db: Database,
  { select, where, ranges, keyOf, around = page => page }: List<Row>,
  part: Part,
  down: boolean,
  most: number,
): MaybePromise<Row[]> {
  const tail = sql`${part.order}${limitedTo(most)}`
  const conditions = part.where === undefined ? where : [...where, part.where]
  const ask = (some: readonly (readonly Sql[])[]) =>
    db.all<Row>(
      around(
        sql`${merged(
          some.map(each => sql`${select} where ${all(each)}`),
          tail,
        )}`,
      ),
    )
  if (ranges === undefined) return ask([conditions])
  if (ranges.length === 0) return []
  const each = ranges.map(range => [range, ...conditions])
  if (each.length <= MAX_MERGED) return ask(each)
  const asked: MaybePromise<Row[]>[] = []
  for (let at = 0; at < each.length; at += MAX_MERGED) asked.push(ask(each.slice(at, at + MAX_MERGED)))
  const sign = down ? -1 : 1
  return Promise.all(asked).then(found =>
    found
      .flat()
      .sort((a, b) => sign * compareKeys(keyOf(a), keyOf(b)))
      .slice(0, most),
  )
}

/** A page of the rows that `keeps` wants, among those of a list that is short by nature. Forward only. */
export function pickedPage<Row>(
  db: Database,
  list: List<Row> & { readonly keeps: (row: Row) => boolean },
): MaybePromise<Page<Row>> {
  const { first } = list.window
  const kept: Row[] = []
  const step = (window: Window): MaybePromise<Page<Row>> =>
    chain(keysetPage<Row>(db, { ...list, window }), ({ rows, more }) => {
      for (const row of rows) if (list.keeps(row)) kept.push(row)
      const last = rows.at(-1)
      if (kept.length > first || !more || last === undefined)
        return { rows: kept.slice(0, first), more: kept.length > first }
      const next = { ...window, first: Math.min(window.first * 4, MAX_STEP), from: list.keyOf(last) }
      return Bun.sleep(0).then(() => step(next))
    })
  return step({ ...list.window, first: first + 1 })
}

/** Negative if `a` comes before `b` in rising order. */
export function compareKeys(a: Key, b: Key): number {
  for (const [index, mine] of a.entries()) {
    const other = b[index] ?? ''
    if (mine !== other) return mine < other ? -1 : 1
  }
  return 0
}
