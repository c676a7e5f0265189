/** The scopes that grant access to an operation. Any well-formed scope may be granted; the others have no effect. */
export const SCOPES = [
  'user:read:entitlements',
  'user:manage:entitlements',
  'user:read:follows',
  'channel:read:stream_key',
  'channel:manage:broadcast',
  'user:read:broadcast',
  'user:read:email',
  'user:edit',
  'channel:manage:videos',
  'channel:read:editors',
  'moderator:read:followers',
  'user:read:drops',
  'user:manage:drops',
] as const

export type Scope = (typeof SCOPES)[number]

/** Gives an application the user's identity: an ID token along with the tokens, and the user info endpoint. */
export const OPENID = 'openid'

/** A scope that has an effect. */
export type KnownScope = Scope | typeof OPENID

/** Maximum number of scopes in one request. */
export const MAX_SCOPES = 50

const known: ReadonlySet<string> = new Set<KnownScope>([...SCOPES, OPENID])

export function isKnownScope(text: string): text is KnownScope {
  return known.has(text)
}

const WELL_FORMED = /^[a-z_]+(:[a-z_]+)*$/

export function isWellFormedScope(text: string): boolean {
  return text.length <= 100 && WELL_FORMED.test(text)
}
