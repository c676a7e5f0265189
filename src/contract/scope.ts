/** The scopes that open something (wire section 3). Any well-formed scope may be granted; only these matter. */
export const SCOPES = [
  'user:read:entitlements',
  'user:manage:entitlements',
  'user:read:follows',
  'channel:read:stream_key',
  'channel:manage:broadcast',
  'user:read:broadcast',
] as const

export type Scope = (typeof SCOPES)[number]

/** With this one an application learns who logged in: an ID token with the tokens, and the user info endpoint. */
export const OPENID = 'openid'

/** A scope that opens something. */
export type KnownScope = Scope | typeof OPENID

/** Scopes that one request may ask for. */
export const MAX_SCOPES = 50

const known: ReadonlySet<string> = new Set<KnownScope>([...SCOPES, OPENID])

/** Whether the scope opens something. */
export function isKnownScope(text: string): text is KnownScope {
  return known.has(text)
}

const WELL_FORMED = /^[a-z_]+(:[a-z_]+)*$/

export function isWellFormedScope(text: string): boolean {
  return text.length <= 100 && WELL_FORMED.test(text)
}
