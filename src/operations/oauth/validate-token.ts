import { tokenIn } from '../../auth/callers.ts'
import { validateToken } from '../../contract/oauth/validate-token.ts'
import { raise } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleValidateToken = implement(validateToken, async ({ authorization }, { callers, clock }) => {
  const token = tokenIn(authorization, ['oauth', 'bearer'])
  if (token === undefined) return raise('missing_authorization')
  const now = clock.now()
  const known = token === 'invalid' ? undefined : await callers.find(token, now)
  if (known === undefined) return raise('invalid_access_token')
  return {
    client_id: known.client_id,
    ...(known.login !== null && known.user_id !== null && { login: known.login, user_id: known.user_id }),
    scopes: [...known.scopes],
    expires_in: Math.floor((known.ends - now) / 1000),
  }
})
