import type { Key } from '../../../src/contract/page.ts'
import type { Cursors } from '../../../src/http/endpoint/cursor.ts'
import type { KeyRing } from '../../../src/kit/crypto/key-ring.ts'
import type { LeastReader } from './reader.ts'

/** As many rows as a page has by default. */
export const PAGE = 20

/** What a token stands for, as far as the measured operations need to know. */
export interface LeastCaller {
  readonly client_id: string
  readonly organization_id: string
  /** Empty for an app. */
  readonly user_id: string
  readonly ends: number
}

/** What stands behind the operations. */
export interface LeastServices {
  readonly storeFile: string
  readonly publicUrl: string
  readonly ring: KeyRing
  readonly cursors: Cursors
  readonly reader: LeastReader
}

/** Answers the query string, and where there is one the body, of one caller; a request without a token has none. */
type Answer = (search: string, caller: LeastCaller | undefined, request: Request) => string | Promise<string>

/** Reads what the operation keeps in memory, and gives the code that answers it. */
export type LeastOperation = (services: LeastServices) => Answer | Promise<Answer>

/** The end of every answer that is a page; a cursor has no character that JSON would escape. */
export function paginationText(cursor: string | undefined): string {
  return cursor === undefined ? '"pagination":{}}' : `"pagination":{"cursor":"${cursor}"}}`
}

/** The value of a parameter that stands at most once, and needs no decoding. */
export function parameter(search: string, name: string): string | undefined {
  const start = search.startsWith(`${name}=`) ? 0 : search.indexOf(`&${name}=`) + 1
  if (start === 0 && !search.startsWith(`${name}=`)) return undefined
  const end = search.indexOf('&', start)
  return search.slice(start + name.length + 1, end < 0 ? undefined : end)
}

/** Cuts the row that shows that there is another page, and seals the cursor to it. */
export function cutPage<Row>(
  rows: Row[],
  keyOf: (row: Row) => Key,
  seal: (ends: { first: Key; last: Key }) => string,
): string | undefined {
  if (rows.length <= PAGE) return undefined
  rows.pop()
  const [top, bottom] = [rows[0], rows.at(-1)]
  return top && bottom && seal({ first: keyOf(top), last: keyOf(bottom) })
}
