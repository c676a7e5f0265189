import { type AccessToken, OAUTH_OR_BEARER, tokenIn } from '../../auth/callers.ts'
import { validateToken } from '../../contract/oauth/validate-token.ts'
import { raise } from '../../contract/problem.ts'
import { andThen } from '../../kit/eventual.ts'
import { implement } from '../implement.ts'

export const handleValidateToken = implement(validateToken, ({ authorization }, { callers, clock }) => {
  const token = tokenIn(authorization, OAUTH_OR_BEARER)
  if (token === undefined) return raise('missing_authorization')
  const now = clock.now()
  return andThen(token === 'invalid' ? undefined : callers.find(token, now), known =>
    known === undefined ? raise('invalid_access_token') : describe(known, now),
  )
})

function describe({ client_id, login, user_id, scopes, ends }: AccessToken, now: number) {
  return {
    client_id,
    ...(login !== null && user_id !== null && { login, user_id }),
    scopes: [...scopes],
    expires_in: Math.floor((ends - now) / 1000),
  }
}
