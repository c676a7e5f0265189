import type { Scope } from './scope.ts'

/** Who may call an operation. An operation without one does not exist: the field is required. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'anyone' }
  | { readonly kind: 'token'; readonly app: boolean; readonly scopes: readonly [Scope, ...Scope[]] }
  | { readonly kind: 'operator' }

/** No token is looked at: the operation has credentials of its own, or needs none. */
export const open: Access = { kind: 'open' }

/** No token is needed; one that is sent must be good (D-29). */
export const anyone: Access = { kind: 'anyone' }

/** A user token with one of these scopes; the first is named when it is missing (D-10). */
export const user = (...scopes: [Scope, ...Scope[]]): Access => ({ kind: 'token', app: false, scopes })

/** An app token, or a user token with this scope. */
export const appOrUser = (scope: Scope): Access => ({ kind: 'token', app: true, scopes: [scope] })

/** The operator's token, and no other. */
export const operator: Access = { kind: 'operator' }
