import type { Scope } from './scope.ts'

/** Who may call an operation. All but those of the control API have to declare it. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'anyone' }
  | { readonly kind: 'token'; readonly app: boolean; readonly scopes: readonly Scope[] }
  | { readonly kind: 'operator' }

/** Ignores tokens: the operation checks other credentials, or needs none. */
export const open: Access = { kind: 'open' }

/** Needs no token; one that is sent must be valid (D-29). */
export const anyone: Access = { kind: 'anyone' }

/** A user token with one of these scopes; the error message names the first (D-10). */
export const user = (...scopes: [Scope, ...Scope[]]): Access => ({ kind: 'token', app: false, scopes })

/** An app token, or a user token with this scope. */
export const appOrUser = (scope: Scope): Access => ({ kind: 'token', app: true, scopes: [scope] })

/** An app or user token, whatever its scopes (D-61). */
export const anyToken: Access = { kind: 'token', app: true, scopes: [] }

/** An operator token. */
export const operator: Access = { kind: 'operator' }
