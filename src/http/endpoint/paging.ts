import type { Operation } from '../../contract/operation.ts'
import type { Key, Page, PageRequest } from '../../contract/page.ts'
import { raise } from '../../contract/problem.ts'
import type { Caller } from '../../domain/caller.ts'
import type { Fields } from '../../domain/input.ts'
import { type Cursors, isWellFormedCursor } from './cursor.ts'

/** The window of an operation without pages, and of a look-up. */
export const ONE_PAGE: PageRequest = { first: 100, direction: 'forward' }

/** The request that a page is for. */
interface PagedRequest {
  /** Path and query parameters together. */
  readonly filters: Fields
  /** What its cursors are bound to. */
  readonly binding: string
}

/** The pages of one operation, as its declaration rules them: from a cursor to a window, and from a page to the next cursor. */
export class Paging {
  readonly #operation: Operation
  readonly #cursors: Cursors
  readonly #filterNames: readonly string[]

  constructor(operation: Operation, cursors: Cursors) {
    this.#operation = operation
    this.#cursors = cursors
    this.#filterNames = listFilterNames(operation)
  }

  readPageRequest(request: PagedRequest): PageRequest {
    const { page: rule, lookUpBy } = this.#operation
    if (rule === undefined) return ONE_PAGE
    const fields = request.filters
    const after = fields.after as string | undefined
    const before = fields.before as string | undefined
    if (after !== undefined && before !== undefined) raise('both_cursors')
    const cursor = after ?? before
    if (lookUpBy !== undefined && hasAny(fields, lookUpBy)) {
      if (cursor !== undefined && !isWellFormedCursor(cursor)) raise('invalid_cursor')
      return ONE_PAGE
    }
    const isBatch = rule.wholeBatchOf !== undefined && hasAny(fields, rule.wholeBatchOf)
    const first = (fields.first as number | undefined) ?? (isBatch ? rule.maximum : rule.default)
    if (cursor === undefined) return { first, direction: 'forward' }
    const bookmark = this.#cursors.open(request.binding, cursor) ?? raise('invalid_cursor')
    return {
      first,
      direction: before === undefined ? 'forward' : 'backward',
      from: before === undefined ? bookmark.last : bookmark.first,
      ...(bookmark.cursorState && { cursorState: bookmark.cursorState }),
    }
  }

  /** The `pagination` of a page: a cursor if there are more rows, otherwise empty (D-13). */
  paginate<Row>(
    request: PagedRequest,
    page: Page<Row>,
    sortKey: (row: Row) => Key,
    cursorState: Key | undefined,
  ): { cursor?: string } {
    const [top, bottom] = [page.rows[0], page.rows.at(-1)]
    if (!page.more) return {}
    if (page.span !== undefined)
      return { cursor: this.#cursors.seal(request.binding, { ...page.span, cursorState }) }
    if (top === undefined || bottom === undefined) return {}
    const bookmark = { first: sortKey(top), last: sortKey(bottom), cursorState }
    return { cursor: this.#cursors.seal(request.binding, bookmark) }
  }

  /** What a cursor is bound to: the operation, its filters in any order, and the caller. */
  cursorBinding(fields: Fields, caller: Caller): string {
    const filters: (readonly [string, unknown])[] = []
    for (const name of this.#filterNames) {
      const value = fields[name]
      if (Array.isArray(value)) filters.push([name, [...new Set(value)].sort()])
      else if (value !== undefined) filters.push([name, value])
    }
    return JSON.stringify([this.#operation.id, filters, cursorOwner(caller)])
  }
}

function hasAny(fields: Fields, names: readonly string[]): boolean {
  for (const name of names) if (fields[name] !== undefined) return true
  return false
}

/** The parameters that select a list, as opposed to a page of it. */
function listFilterNames(operation: Operation): string[] {
  return Object.keys({ ...operation.params?.properties, ...operation.query?.properties }).sort()
}

/** Who a cursor belongs to. */
function cursorOwner(caller: Caller): string {
  if (caller.kind === 'user') return `user ${caller.client_id} ${caller.user_id}`
  return caller.kind === 'app' ? `app ${caller.client_id}` : caller.kind
}
