import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { UserInfo } from '../resources/openid.ts'

export const getUserInfo = defineOperation('GET /oauth2/userinfo', {
  id: 'GetUserInfo',
  summary: 'Get claims about the user of a token.',
  description:
    'Send a user token with the scope `openid` as `Authorization: Bearer <token>`. Requests with a valid token count against the rate limit of the client, others against that of the IP address.',
  access: open,
  credentials: 'openid',
  limitsItself: true,
  returns: UserInfo,
  problems: ['missing_authorization', 'invalid_access_token', 'scope_missing'],
  example: {
    answer: {
      sub: '141981764',
      iss: 'http://localhost:8080/oauth2',
      aud: '<CLIENT_ID>',
      azp: '<CLIENT_ID>',
      exp: 1_790_014_400,
      iat: 1_790_000_000,
      preferred_username: 'Lunar_Otter',
    },
  },
})
