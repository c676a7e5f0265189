import { OAUTH_OR_BEARER, tokenIn } from '../../auth/callers.ts'
import { issuerUrl } from '../../auth/id-token.ts'
import { getUserInfo } from '../../contract/oauth/get-user-info.ts'
import { refuse } from '../../contract/problem.ts'
import { OPENID } from '../../contract/scope.ts'
import { implement } from '../implement.ts'

export const handleGetUserInfo = implement(
  getUserInfo,
  async ({ authorization, address }, { callers, clock, limits, publicUrl, store }) => {
    const token = tokenIn(authorization, OAUTH_OR_BEARER)
    const now = clock.now()
    const known = token === undefined || token === 'invalid' ? undefined : await callers.find(token, now)
    limits.takeForValidation(known?.client_id, address)
    if (token === undefined) return refuse('missing_authorization')
    if (known === undefined) return refuse('invalid_access_token')
    if (known.user_id === null || !known.scopes.includes(OPENID)) return refuse('scope_missing', OPENID)
    const user = await store.users.find(known.user_id)
    if (user === undefined) return refuse('invalid_access_token')
    return {
      sub: user.id,
      iss: issuerUrl(publicUrl),
      aud: known.client_id,
      azp: known.client_id,
      exp: Math.floor(known.ends / 1000),
      iat: Math.floor(now / 1000),
      preferred_username: user.display_name,
    }
  },
)
