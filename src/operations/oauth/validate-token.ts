import { type AccessToken, OAUTH_OR_BEARER, tokenIn } from '../../auth/callers.ts'
import { validateToken } from '../../contract/oauth/validate-token.ts'
import { refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleValidateToken = implement(
  validateToken,
  async ({ authorization, address }, { callers, clock, limits }) => {
    const token = tokenIn(authorization, OAUTH_OR_BEARER)
    const now = clock.now()
    const known = token === undefined || token === 'invalid' ? undefined : await callers.find(token, now)
    limits.takeForValidation(known?.client_id, address)
    if (token === undefined) return refuse('missing_authorization')
    return known === undefined ? refuse('invalid_access_token') : describe(known, now)
  },
  {
    handleFromMemory: ({ authorization, address }, { callers, clock, limits }) => {
      const token = tokenIn(authorization, OAUTH_OR_BEARER)
      const now = clock.now()
      const known = token === undefined || token === 'invalid' ? undefined : callers.cached(token, now)
      if (known === undefined) return undefined
      limits.takeForValidation(known.client_id, address)
      return describe(known, now)
    },
  },
)

function describe({ client_id, login, user_id, scopes, ends }: AccessToken, now: number) {
  return {
    client_id,
    ...(login !== null && user_id !== null && { login, user_id }),
    scopes: [...scopes],
    expires_in: Math.floor((ends - now) / 1000),
  }
}
