import { SITE_CLIENT_ID } from '../contract/site-client.ts'

/** The caller of a request, from its token. */
export type Caller =
  | { readonly kind: 'anonymous' }
  /** The initial operator token has no name. */
  | { readonly kind: 'operator'; readonly name: string | null }
  | {
      readonly kind: 'app'
      readonly client_id: string
      readonly organization_id: string | null
    }
  | {
      readonly kind: 'user'
      readonly client_id: string
      readonly organization_id: string | null
      readonly user_id: string
      readonly login: string
      readonly scopes: readonly string[]
    }

export type TokenCaller = Extract<Caller, { kind: 'app' | 'user' }>
export type UserCaller = Extract<Caller, { kind: 'user' }>

export function isTokenCaller(caller: Caller): caller is TokenCaller {
  return caller.kind === 'app' || caller.kind === 'user'
}

/** A script of the site, on behalf of a visitor who is not logged in. */
export function isVisitor(caller: Caller): boolean {
  return caller.kind === 'app' && caller.client_id === SITE_CLIENT_ID
}

/** A script of the site, on behalf of the user who is logged in. */
export function isSiteUser(caller: Caller): caller is UserCaller {
  return caller.kind === 'user' && caller.client_id === SITE_CLIENT_ID
}

/** The name of a caller in the audit log. */
export function actorName(caller: Caller): string {
  switch (caller.kind) {
    case 'anonymous':
      return 'anonymous'
    case 'operator':
      return caller.name === null ? 'operator' : `operator/${caller.name}`
    case 'app':
      return `client/${caller.client_id}`
    case 'user':
      return `client/${caller.client_id}/user/${caller.user_id}`
  }
}
