import type { Access } from '../contract/access.ts'
import { type Refusal, refuse } from '../contract/problem.ts'
import { type Caller, isSiteUser, isTokenCaller, type TokenCaller, type UserCaller } from './caller.ts'

/** Whether the caller may use an operation at all: token, kind, scope (D-6, D-9). Ownership is decided later. */
export function refusal(access: Access, caller: Caller): Refusal | undefined {
  switch (access.kind) {
    case 'open':
    case 'anyone':
      return undefined
    case 'operator':
      return caller.kind === 'operator' ? undefined : refuse('operator_required')
    case 'token': {
      if (caller.kind === 'app') return access.app ? undefined : refuse('user_token_required')
      if (caller.kind !== 'user') return refuse('token_missing')
      const [needed] = access.scopes
      if (needed === undefined) return undefined
      for (const scope of access.scopes) if (caller.scopes.includes(scope)) return undefined
      return refuse('scope_missing', needed)
    }
  }
}

/** The caller of an operation that accepts user tokens only. */
export function theUser(caller: Caller): UserCaller {
  if (caller.kind !== 'user') throw new Error('this operation accepts user tokens only')
  return caller
}

/** The caller of an operation that accepts tokens of any kind, and nothing else. */
export function theTokenCaller(caller: Caller): TokenCaller {
  if (!isTokenCaller(caller)) throw new Error('this operation accepts tokens only')
  return caller
}

/** Some resources are only available to the token's user, such as followed streams and the stream key (D-6). */
export function requireOwnId(
  caller: Caller,
  name: string,
  id: string,
): UserCaller | Refusal<'identity_mismatch'> {
  const own = theUser(caller)
  return own.user_id === id ? own : refuse('identity_mismatch', name)
}

const FOLLOWERS_SCOPE = 'moderator:read:followers'

/**
 * Why a caller may not see who follows a channel; undefined: the caller may (D-84). An identity mismatch does not apply to
 * the editors of the channel.
 */
export function refuseFollowers(
  caller: Caller,
  broadcaster_id: string,
): Refusal<'user_token_required' | 'scope_missing' | 'identity_mismatch'> | undefined {
  if (caller.kind !== 'user') return refuse('user_token_required')
  if (!caller.scopes.includes(FOLLOWERS_SCOPE)) return refuse('scope_missing', FOLLOWERS_SCOPE)
  return caller.user_id === broadcaster_id ? undefined : refuse('identity_mismatch', 'broadcaster_id')
}

/** The entitlements that a caller may access: those of an organization, and with a user token only those of the user (D-23). */
export interface EntitlementReach {
  readonly organization_id: string
  readonly user_id?: string
}

export function entitlementReach(caller: Caller): EntitlementReach | Refusal<'no_organization'> {
  const { organization_id } = theTokenCaller(caller)
  if (organization_id === null) return refuse('no_organization')
  return caller.kind === 'user' ? { organization_id, user_id: caller.user_id } : { organization_id }
}

/** Those that a caller may list: on the site, those of the user in all organizations (D-157). */
export function listableEntitlements(caller: Caller): Partial<EntitlementReach> | Refusal<'no_organization'> {
  return isSiteUser(caller) ? { user_id: caller.user_id } : entitlementReach(caller)
}

export function isWithinReach(
  reach: Partial<EntitlementReach>,
  row: { readonly organization_id: string | undefined; readonly user_id: string },
): boolean {
  if (reach.organization_id !== undefined && row.organization_id !== reach.organization_id) return false
  return reach.user_id === undefined || row.user_id === reach.user_id
}
