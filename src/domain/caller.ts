/** Who is asking, as far as the token tells. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'operator' }
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
