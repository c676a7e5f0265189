import type { Caller } from '../domain/caller.ts'
import { isoMillis } from '../kit/clock.ts'
import { sameSecret } from '../kit/digest.ts'
import type { KnownToken } from '../store/queries/tokens.ts'
import type { Store } from '../store/store.ts'
import { hashOf, isWellMade } from './tokens.ts'

/** Who a request's credentials stand for; `invalid` if they stand for nobody. */
export type Resolution = Caller | 'invalid'

/** The token of an `Authorization` header: undefined if there is none, `invalid` if it cannot be one. */
export function tokenIn(header: string | null, schemes: readonly string[]): string | 'invalid' | undefined {
  if (header === null || header === '') return undefined
  const [, scheme, token] = /^([A-Za-z]+) +([^\s]+)$/.exec(header) ?? []
  if (scheme === undefined || token === undefined) return 'invalid'
  return schemes.includes(scheme.toLowerCase()) && isWellMade(token) ? token : 'invalid'
}

/** A live access token of ours, looked up by its hash. */
export async function findAccessToken(
  store: Store,
  token: string,
  now: number,
): Promise<KnownToken | undefined> {
  const known = await store.tokens.find(hashOf(token))
  if (known === undefined || known.kind === 'refresh' || known.expires_at <= isoMillis(now)) return undefined
  return known
}

/** The caller behind `Authorization: Bearer <token>` (D-2). */
export async function resolveCaller(store: Store, header: string | null, now: number): Promise<Resolution> {
  const token = tokenIn(header, ['bearer'])
  if (token === undefined) return { kind: 'anonymous' }
  if (token === 'invalid') return 'invalid'
  const known = await findAccessToken(store, token, now)
  if (known === undefined) return 'invalid'
  const { client_id, organization_id } = known
  if (known.user_id === null || known.login === null) return { kind: 'app', client_id, organization_id }
  return {
    kind: 'user',
    client_id,
    organization_id,
    user_id: known.user_id,
    login: known.login,
    scopes: JSON.parse(known.scopes),
  }
}

/** The operator, if the header carries the operator's token. */
export function resolveOperator(operatorToken: string, header: string | null): Resolution {
  const [, token] = /^bearer +([^\s]+)$/i.exec(header ?? '') ?? []
  if (token === undefined) return { kind: 'anonymous' }
  return sameSecret(token, operatorToken) ? { kind: 'operator' } : 'invalid'
}
