import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { Validation } from '../resources/token.ts'

/** Says whose token it is and how long it lives. One library asks before each scoped call, so its limit is a wide one. */
export const validateToken = defineOperation('GET /oauth2/validate', {
  id: 'ValidateToken',
  summary: 'Tells what a token is good for.',
  description:
    'The token comes as `Authorization: OAuth <token>` or `Bearer <token>`. A good token counts against the limit of its client, anything else against that of the address.',
  access: open,
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
