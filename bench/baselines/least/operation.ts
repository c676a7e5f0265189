import { hashToken } from '../../../src/auth/tokens.ts'
import type { Key } from '../../../src/contract/page.ts'
import type { Cursors } from '../../../src/http/endpoint/cursor.ts'
import type { KeyRing } from '../../../src/kit/crypto/key-ring.ts'
import { openSqlite } from '../../../src/store/sqlite/sqlite-connection.ts'

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

/** Answers the query string of one caller; a request without a token has none. */
type Answer = (search: string, caller: LeastCaller | undefined) => string

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

/** Statements on the store, each compiled once. Those that run in one turn of the event loop share a read transaction. */
export function openReader(storeFile: string) {
  const connection = openSqlite(storeFile, 'read')
  const [begin, commit] = [connection.prepare('begin'), connection.prepare('commit')]
  let hasView = false
  const prepare = (text: string) => {
    const statement = connection.prepare(text)
    return () => {
      if (hasView) return statement
      begin.run()
      hasView = true
      setImmediate(() => {
        commit.run()
        hasView = false
      })
      return statement
    }
  }
  const all = <Row>(text: string) => {
    const statement = prepare(text)
    return (...values: string[]) => statement().all(...values) as Row[]
  }
  const get = <Row>(text: string) => {
    const statement = prepare(text)
    return (...values: string[]) => statement().get(...values) as Row | null
  }
  return { all, get }
}
type LeastReader = ReturnType<typeof openReader>

const SCHEME = 'Bearer '

/** The caller by the headers, from memory: undefined without a token. */
export type FindCaller = (headers: Headers) => LeastCaller | undefined | 'invalid'

/** All tokens of the store by their hash. */
export function knowCallers(reader: LeastReader): FindCaller {
  const rows = reader.all<Omit<LeastCaller, 'ends'> & { hash: string; expires_at: string }>(
    `select t.hash, t.client_id, coalesce(c.organization_id, '') as organization_id,
       coalesce(t.user_id, '') as user_id, t.expires_at
     from tokens t join clients c on c.id = t.client_id where t.kind <> 'refresh'`,
  )()
  const known = new Map<string, LeastCaller>()
  for (const { hash, expires_at, ...caller } of rows) {
    known.set(hash, { ...caller, ends: Date.parse(expires_at) })
  }
  return headers => {
    const authorization = headers.get('authorization')
    if (authorization === null) return undefined
    const caller = known.get(hashToken(authorization.slice(SCHEME.length)))
    if (caller === undefined || caller.ends < Date.now()) return 'invalid'
    const client = headers.get('client-id')
    return client === null || client === caller.client_id ? caller : 'invalid'
  }
}
