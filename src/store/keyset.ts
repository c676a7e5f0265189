import type { Key, Page, Window } from '../contract/page.ts'
import type { Database } from './database.ts'
import { all, Sql, sql, verbatim } from './sql/tag.ts'

/**
 * Pages by sort key, the one place where lists are cut. The columns of `order` are compared together as a row, all in
 * one direction, so an index on them serves both the order and the place to go on from. One row more than asked for is
 * fetched: it tells whether there is another page.
 */
export async function keysetPage<Row>(
  db: Database,
  list: {
    readonly select: Sql
    readonly where: readonly Sql[]
    readonly order: readonly string[]
    readonly descending?: boolean
    readonly window: Window
  },
): Promise<Page<Row>> {
  const { window } = list
  const backward = window.direction === 'backward'
  const down = (list.descending ?? false) !== backward
  const where = [...list.where]
  if (window.from !== undefined) where.push(isBeyond(list.order, window.from, down))
  const rows = await db.all<Row>(
    sql`${list.select} where ${all(where)} order by ${verbatim(
      list.order.map(column => `${column} ${down ? 'desc' : 'asc'}`).join(', '),
    )} limit ${window.first + 1}`,
  )
  const more = rows.length > window.first
  if (more) rows.pop()
  if (backward) rows.reverse()
  return { rows, more }
}

function isBeyond(order: readonly string[], from: Key, down: boolean): Sql {
  const marks = new Sql(['', ...from.slice(1).map(() => ', '), ''], from)
  return sql`(${verbatim(order.join(', '))}) ${verbatim(down ? '<' : '>')} (${marks})`
}
