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

const WELL_FORMED = /^[a-z_]+(:[a-z_]+)*$/

export function isWellFormedScope(text: string): boolean {
  return text.length <= 100 && WELL_FORMED.test(text)
}
