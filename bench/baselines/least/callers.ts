import { hashToken } from '../../../src/auth/tokens.ts'
import type { LeastCaller } from './operation.ts'
import type { LeastReader } from './reader.ts'

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
