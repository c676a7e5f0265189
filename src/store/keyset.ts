import type { Key, Page, Window } from '../contract/page.ts'
import { andThen, type Eventual } from '../kit/eventual.ts'
import type { Database } from './database.ts'
import { all, joined, limitedTo, type Sql, sql, verbatim } from './sql/tag.ts'

/** Columns that are compared together as a row, all in one direction. */
export interface Order {
  readonly columns: Sql
  readonly up: Sql
  readonly down: Sql
}

export function inOrderOf(...columns: readonly string[]): Order {
  const towards = (direction: string) =>
    verbatim(` order by ${columns.map(column => `${column} ${direction}`).join(', ')}`)
  return { columns: verbatim(columns.join(', ')), up: towards('asc'), down: towards('desc') }
}

/**
 * Pages by sort key, the one place where lists are cut. An index on the columns of `order` serves both the order and the
 * place to go on from. One row more than asked for is fetched: it tells whether there is another page.
 */
export function keysetPage<Row>(
  db: Database,
  list: {
    readonly select: Sql
    readonly where: readonly Sql[]
    readonly order: Order
    readonly descending?: boolean
    readonly window: Window
  },
): Eventual<Page<Row>> {
  const { order, window } = list
  const backward = window.direction === 'backward'
  const down = (list.descending ?? false) !== backward
  const where = window.from === undefined ? list.where : [...list.where, isBeyond(order, window.from, down)]
  const query = sql`${list.select} where ${all(where)}${down ? order.down : order.up}${limitedTo(window.first + 1)}`
  return andThen(db.all<Row>(query), rows => {
    const more = rows.length > window.first
    if (more) rows.pop()
    if (backward) rows.reverse()
    return { rows, more }
  })
}

function isBeyond({ columns }: Order, from: Key, down: boolean): Sql {
  const place = joined(from, ', ')
  return down ? sql`(${columns}) < (${place})` : sql`(${columns}) > (${place})`
}
