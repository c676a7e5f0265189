/**
 * Keyset pagination: how every list of the store is cut into pages.
 *
 * The problem: `offset 100000` reads and drops 100,000 rows, and skips or repeats rows that were deleted or inserted
 * meanwhile. The solution: a page starts after a key, the values that the last row of the previous page has in the columns
 * of the order. With an index on these columns, the database finds that place directly: a page costs the same at any depth
 * and store size.
 *
 *     order: created_at, id        ... (May 3, 17) | (May 3, 18) (May 4, 2) ...
 *                                     last key ----'  next page: rows with (created_at, id) > (May 3, 17)
 *
 * `keyset-order.ts` turns an order and a key into conditions. Some orders need several: consecutive parts, each of which an
 * index serves, are read one after another until the page is full.
 *
 * An index serves a filter if its columns are those of the filter, followed by those of the order. Not every combination of
 * filters has an index, because each one makes every write more expensive. There are three kinds of lists:
 *
 * | List | If | A page reads |
 * |---|---|---|
 * | plain | an index serves filter and order | its rows, and one more |
 * | merged (`ranges`) | the list consists of ranges that have an index each | no more rows of each range than the page needs |
 * | filtered | no index can serve the filter, or the list is short by nature | rows in growing steps, at most 5,000 unless the list has another limit |
 *
 * A filtered page that reaches its limit ends early, even if it is not full or is empty. Its `span` is what it has read, and
 * its cursor continues from there. Other work runs between the steps.
 *
 * What must hold:
 * - The columns of an order identify a row within the list, otherwise rows with equal values could be skipped between pages.
 * - A row that exists during a whole walk is returned once, if its key does not change.
 * - Ranges do not overlap: a row in two of them would be returned twice.
 * - A page backward is read in the opposite order and then reversed, so rows are always in list order.
 *
 * Frequent reads use a prepared list, whose queries are built once.
 */
import type { Key, Page, PageRequest } from '../contract/page.ts'
import type { Database } from './database.ts'
import { compareKeys, type KeyedOrder, type Order, type Part } from './keyset-order.ts'
import {
  all,
  createParameters,
  limitedTo,
  merged,
  Parameter,
  type Scalar,
  type Sql,
  Statement,
  StatementCall,
  type StatementValues,
  sql,
} from './sql/tag.ts'

/** Maximum ranges merged by one statement; each number of ranges is a separate statement. */
const MAX_MERGED = 16
/** Maximum rows read in one step of picking, unless the list has another. */
const MAX_STEP = 200
/** Maximum rows that picking reads for one page, unless the list has another: some 20 ms of work. */
export const MAX_PICKED = 5000

/** A list, without the page of it that is requested. */
interface Listing<Row> {
  readonly select: Sql
  readonly where?: readonly Sql[]
  /** Parts that together form the whole list. The columns of the order must then be selected under their names. */
  readonly ranges?: readonly Sql[]
  readonly order: Order | KeyedOrder
  readonly descending?: boolean
  /** The key of a row. Default: the `sortKey` of the order. */
  readonly sortKey?: (row: Row) => Key
  /** Joins that are applied after the page is cut. PostgreSQL may otherwise start with the joined tables. */
  readonly around?: (page: Sql) => Sql
}

export interface List<Row> extends Listing<Row> {
  readonly window: PageRequest
}

export function keysetPage<Row>(db: Database, list: List<Row>): Promise<Page<Row>> {
  const { order, window } = list
  const down = isDown(list, window)
  const parts =
    window.from === undefined ? [order.all(down)] : order.after(cursorValues(order, window.from), down)
  return readPage(parts, window, (part, most) => readPart(db, list, part, down, most))
}

/**
 * The pages of a list whose values differ from call to call. Its queries are built once, for each set of values that are
 * given: `write` has parameters in their place.
 */
export function preparedList<Row, Values extends StatementValues>(
  names: readonly (keyof Values & string)[],
  write: (parameters: ParametersFor<Values>) => Listing<Row>,
) {
  /** Indexed by which values are given: each name is a binary digit. */
  const lists: (PreparedList<Row> | undefined)[] = []
  const prepare = (values: Values) => {
    const present = names.filter(name => values[name] !== undefined)
    return new PreparedList(write(createParameters(present) as ParametersFor<Values>))
  }
  return (db: Database, values: Values, window: PageRequest): Promise<Page<Row>> => {
    let given = 0
    for (const name of names) given = given * 2 + Number(values[name] !== undefined)
    const list = lists[given] ?? prepare(values)
    lists[given] = list
    return list.page(db, values, window)
  }
}

type ParametersFor<Values> = {
  readonly [Name in keyof Values]: Parameter | (undefined extends Values[Name] ? undefined : never)
}

/** Names of the parameters for the values of a key. No column has such a name. */
const PLACE = ['one', 'two', 'three', 'four']
const NO_PLACE: readonly Scalar[] = []

class PreparedList<Row> {
  readonly #list: Listing<Row>
  /** Statements by the number of values in the key, and the direction. */
  readonly #parts: (readonly Statement[] | undefined)[] = []

  constructor(list: Listing<Row>) {
    this.#list = list
  }

  page(db: Database, values: StatementValues, window: PageRequest): Promise<Page<Row>> {
    const down = isDown(this.#list, window)
    const place = window.from === undefined ? NO_PLACE : cursorValues(this.#list.order, window.from)
    const [one, two, three, four] = place
    return readPage(this.#partsFrom(place.length, down), window, (part, most) =>
      db.all<Row>(new StatementCall(part, { ...values, one, two, three, four, most })),
    )
  }

  #partsFrom(length: number, down: boolean): readonly Statement[] {
    const index = length * 2 + Number(down)
    this.#parts[index] ??= this.#prepareParts(PLACE.slice(0, length), down)
    return this.#parts[index]
  }

  #prepareParts(place: readonly string[], down: boolean): readonly Statement[] {
    const { order } = this.#list
    const parts =
      place.length === 0
        ? [order.all(down)]
        : order.after(
            place.map(name => new Parameter(name)),
            down,
          )
    return parts.map(
      part =>
        new Statement(buildQuery(this.#list, pageRanges(this.#list, part), part, new Parameter('most'))),
    )
  }
}

const isDown = ({ descending = false }: Listing<never>, { direction }: PageRequest): boolean =>
  descending !== (direction === 'backward')

const cursorValues = (order: Order, from: Key): readonly Scalar[] => order.toCursorValues?.(from) ?? from

/** Fetches one row more than requested, to find out whether there is another page. */
async function readPage<P, Row>(
  parts: readonly P[],
  { first, direction }: PageRequest,
  read: (part: P, most: number) => Promise<Row[]>,
): Promise<Page<Row>> {
  const [start, ...others] = parts
  let rows = start === undefined ? [] : await read(start, first + 1)
  for (const part of others) {
    if (rows.length > first) break
    rows = [...rows, ...(await read(part, first + 1 - rows.length))]
  }
  const more = rows.length > first
  if (more) rows.length = first
  if (direction === 'backward') rows.reverse()
  return { rows, more }
}

/** The conditions of each range within a part. */
function pageRanges<Row>({ where = [], ranges }: Listing<Row>, part: Part): readonly (readonly Sql[])[] {
  const conditions = part.where === undefined ? where : [...where, part.where]
  return ranges === undefined ? [conditions] : ranges.map(range => [range, ...conditions])
}

function buildQuery<Row>(
  { select, around = page => page }: Listing<Row>,
  ranges: readonly (readonly Sql[])[],
  { order }: Part,
  most: number | Parameter,
): Sql {
  const branches = ranges.map(conditions => sql`${select} where ${all(conditions)}`)
  return around(sql`${merged(branches, sql`${order}${limitedTo(most)}`)}`)
}

async function readPart<Row>(
  db: Database,
  list: List<Row>,
  part: Part,
  down: boolean,
  most: number,
): Promise<Row[]> {
  const ranges = pageRanges(list, part)
  const read = (some: readonly (readonly Sql[])[]) => db.all<Row>(buildQuery(list, some, part, most))
  if (ranges.length === 0) return []
  if (ranges.length <= MAX_MERGED) return read(ranges)
  const reads: Promise<Row[]>[] = []
  for (let at = 0; at < ranges.length; at += MAX_MERGED) reads.push(read(ranges.slice(at, at + MAX_MERGED)))
  const [sign, sortKey] = [down ? -1 : 1, keyIn(list)]
  return (await Promise.all(reads))
    .flat()
    .sort((a, b) => sign * compareKeys(sortKey(a), sortKey(b)))
    .slice(0, most)
}

/** How a page is picked: the rows that `filter` accepts, read in steps of at most `step` rows, and at most `most` of them. */
interface Picking<Row> {
  readonly filter: (row: Row) => boolean
  /** Default: `MAX_STEP`. */
  readonly step?: number
  /** Default: `MAX_PICKED`. */
  readonly most?: number
}

/** A page of a filtered list. */
export function filteredPage<Row>(db: Database, list: List<Row> & Picking<Row>): Promise<Page<Row>> {
  return pickFrom(window => keysetPage<Row>(db, { ...list, window }), { ...list, sortKey: keyIn(list) })
}

function keyIn<Row>({ sortKey, order }: List<Row>): (row: Row) => Key {
  if (sortKey !== undefined) return sortKey
  if ('sortKey' in order) return row => order.sortKey(row as object)
  throw new Error('a list needs the key of its rows')
}

/** A filtered page of a list whose pages `read` returns. */
export async function pickFrom<Row>(
  read: (window: PageRequest) => Promise<Page<Row>>,
  list: Picking<Row> & { readonly window: PageRequest; readonly sortKey: (row: Row) => Key },
): Promise<Page<Row>> {
  const { window: asked, sortKey, filter, step: maxStep = MAX_STEP, most = MAX_PICKED } = list
  const backward = asked.direction === 'backward'
  let kept: Row[] = []
  let looked = 0
  let begin: Key | undefined
  let window: PageRequest = { ...asked, first: asked.first + 1 }
  for (;;) {
    const { rows, more } = await read(window)
    const found = rows.filter(filter)
    if (kept.length === 0) kept = found
    else kept = backward ? [...found, ...kept] : [...kept, ...found]
    const [near, far] = backward ? [rows.at(-1), rows[0]] : [rows[0], rows.at(-1)]
    if (kept.length > asked.first || !more || near === undefined || far === undefined) {
      const page = backward ? kept.slice(-asked.first) : kept.slice(0, asked.first)
      return { rows: page, more: kept.length > asked.first }
    }
    begin ??= sortKey(near)
    looked += rows.length
    const end = sortKey(far)
    if (looked >= most) {
      const span = backward ? { first: end, last: begin } : { first: begin, last: end }
      return { rows: kept, more: true, span }
    }
    // Other work can run between the steps.
    await Bun.sleep(0)
    window = { ...window, first: Math.min(window.first * 4, maxStep, most - looked), from: end }
  }
}
