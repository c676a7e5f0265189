import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { Validation } from '../resources/token.ts'

/** One library validates its token before each scoped call, so the rate limit is generous. */
export const validateToken = defineOperation('GET /oauth2/validate', {
  id: 'ValidateToken',
  summary: 'Get the client, user, scopes and lifetime of a token.',
  description:
    'Send the token as `Authorization: OAuth <token>` or `Bearer <token>`. Requests with a valid token count against the rate limit of the client, others against that of the IP address.',
  access: open,
  credentials: 'token',
  limitsItself: true,
  returns: Validation,
  problems: ['missing_authorization', 'invalid_access_token'],
  example: {
    answer: {
      client_id: '<CLIENT_ID>',
      login: 'lunar_otter',
      scopes: ['user:read:follows'],
      user_id: '141981764',
      expires_in: 14_124,
    },
  },
})
