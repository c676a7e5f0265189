import type { TSchema } from 'typebox'
import { Type } from './schema.ts'

/** How an operation's list is cut (D-13, D-14). Declared once; parameters, cursor and answer shape follow from it. */
export interface PageRule {
  /** Page size when `first` is left out. */
  readonly standard: number
  /** Filters that name single things: with one of them given and no `first`, the page is 100, so that a batch comes whole. */
  readonly wholeBatchOf?: readonly string[]
  /** Whether the list can also be walked backwards. */
  readonly before: boolean
}

export const MAX_PAGE = 100

const Pagination = Type.Object(
  {
    cursor: Type.Optional(
      Type.String({ description: 'Pass it as `after` for the next page; absent at the end.' }),
    ),
  },
  { description: 'Empty when there is no further page in the direction asked.' },
)

/** The answer of an operation that lists. */
export function pageOf<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item), pagination: Pagination })
}

/** The answer of an operation that gives one thing: an array of exactly one. */
export function oneOf<Item extends TSchema>(item: Item) {
  return Type.Object({ data: Type.Array(item, { minItems: 1, maxItems: 1 }) })
}

/** The parameters that a page rule adds to the query. */
export function pageParameters(rule: PageRule): Record<string, TSchema> {
  const forward = {
    first: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE,
        description: `Rows per page; ${rule.standard} if left out${rule.wholeBatchOf ? `, 100 with ${rule.wholeBatchOf.map(name => `\`${name}\``).join(' or ')}` : ''}.`,
      }),
    ),
    after: Type.Optional(Type.String({ description: 'The cursor of the page to go on behind.' })),
  }
  if (!rule.before) return forward
  return {
    ...forward,
    before: Type.Optional(Type.String({ description: 'The cursor of the page to end in front of.' })),
  }
}

/** A sort key, as it stands in a cursor. */
export type Key = readonly (string | number)[]

/** The part of a list that a request asks for, cursor already opened. */
export interface Window {
  readonly first: number
  readonly direction: 'forward' | 'backward'
  /** The key to start behind (forward) or to end in front of (backward); absent at the start of a walk. */
  readonly from?: Key
  /** What the walk remembered besides its place, such as the ranking or the video it began with. */
  readonly memory?: Key
}

/** A page as it was cut: rows in list order, and whether more follow in the direction asked. */
export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly more: boolean
}
