import type { TSchema } from 'typebox'
import { Type } from './schema.ts'

/** How an operation's list is paged (D-13, D-14). Parameters, cursor and answer shape follow from it. */
export interface PageRule {
  /** Page size without `first`. */
  readonly default: number
  /** The largest `first`. */
  readonly maximum: number
  /** Filters by id or login: with one of them and without `first` the page size is the maximum, so that a batch fits on one page. */
  readonly wholeBatchOf?: readonly string[]
  /** Whether the list can also be paged backwards. */
  readonly before: boolean
}

/** Maximum values of all parameters that name rows, together (D-62). */
export const MAX_LOOK_UP = 100

const Pagination = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({ description: 'Pass it as `after` to get the next page; absent on the last page.' }),
    ),
  },
  { title: 'Pagination', description: 'Empty on the last page in the requested direction.' },
)

/** The answer of a list operation. */
export function pageSchema<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item), pagination: Pagination })
}

/** The usual list, forward only: its page rule and its answer. */
export function listing<Item extends TSchema>(item: Item) {
  return { page: { default: 20, maximum: 100, before: false }, returns: pageSchema(item) } as const
}

/** The answer of a list operation that also counts: `total` is the size of the whole list. */
export function countedPageSchema<Item extends TSchema>(item: Item, description: string) {
  const total = Type.Integer({ minimum: 0, description })
  return Type.Object({ total, data: Type.Array(item), pagination: Pagination })
}

/** The answer of an operation that returns one resource: an array with exactly one element. */
export function singleSchema<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item, { minItems: 1, maxItems: 1 }) })
}

/** The answer of an operation that returns all its rows at once (D-63). */
export function rowsSchema<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item) })
}

/** The parameters that a page rule adds to the query. */
export function pageParameters(rule: PageRule): Record<string, TSchema> {
  const forward = {
    first: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: rule.maximum,
        description: `Page size (default: ${rule.default}${rule.wholeBatchOf ? `, or ${rule.maximum} with ${rule.wholeBatchOf.map(name => `\`${name}\``).join(' or ')}` : ''}).`,
      }),
    ),
    after: Type.Optional(Type.String({ description: 'Cursor of the previous page.' })),
  }
  if (!rule.before) return forward
  return {
    ...forward,
    before: Type.Optional(Type.String({ description: 'Cursor of the following page, to page backwards.' })),
  }
}

/** A sort key as a cursor contains it. */
export type Key = readonly (string | number)[]

/** The part of a list that a request asks for, with the cursor decoded. */
export interface PageRequest {
  readonly first: number
  readonly direction: 'forward' | 'backward'
  /** The key to start after (forward) or to end before (backward); absent on the first page. */
  readonly from?: Key
  /** State that the cursor carries besides its position, such as the ranking or the video of the first page. */
  readonly cursorState?: Key
}

/** One page: rows in list order, and whether more may follow in the requested direction. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly more: boolean
  /** The keys between which rows were looked at, if the page ended before it was full: it may be empty. */
  readonly span?: { readonly first: Key; readonly last: Key }
}
