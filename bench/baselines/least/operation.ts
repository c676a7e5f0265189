import { hashToken } from '../../../src/auth/tokens.ts'
import type { Cursors } from '../../../src/http/endpoint/cursor.ts'
import type { KeyRing } from '../../../src/kit/crypto/key-ring.ts'
import { openSqlite } from '../../../src/store/sqlite/sqlite-connection.ts'

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

/** Answers the query string of one caller; a request without a token has none. Writes read the body and are answered later. */
type Answer = (search: string, caller: LeastCaller | undefined, request: Request) => string | Promise<string>

/** Reads what the operation keeps in memory, and gives the code that answers it. */
export type LeastOperation = (services: LeastServices) => Answer | Promise<Answer>

/** The value of the only parameter, which needs no decoding. */
export const onlyValue = (search: string): string => search.slice(search.indexOf('=') + 1)

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

/** Finds callers by the headers, from memory: undefined without a token. */
export function knowCallers(reader: LeastReader) {
  const rows = reader.all<Omit<LeastCaller, 'ends'> & { hash: string; expires_at: string }>(
    `select t.hash, t.client_id, coalesce(c.organization_id, '') as organization_id,
       coalesce(t.user_id, '') as user_id, t.expires_at
     from tokens t join clients c on c.id = t.client_id where t.kind <> 'refresh'`,
  )()
  const known = new Map<string, LeastCaller>()
  for (const { hash, expires_at, ...caller } of rows) {
    known.set(hash, { ...caller, ends: Date.parse(expires_at) })
  }
  return (headers: Headers): LeastCaller | undefined | 'invalid' => {
    const authorization = headers.get('authorization')
    if (authorization === null) return undefined
    const caller = known.get(hashToken(authorization.slice('Bearer '.length)))
    if (caller === undefined || caller.ends < Date.now()) return 'invalid'
    const client = headers.get('client-id')
    return client === null || client === caller.client_id ? caller : 'invalid'
  }
}
