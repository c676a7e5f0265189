import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { openidGrants } from '../resources/grants.ts'
import { StandardTokenAnswer } from '../resources/token.ts'
import { createToken } from './create-token.ts'

/** The token endpoint for libraries that follow the standards strictly. The discovery document names this one. */
export const createOpenidToken = defineOperation('POST /oauth2/openid/token', {
  id: 'CreateOpenidToken',
  summary: 'Exchange credentials for an access token, in the format of the standards.',
  description:
    'Same parameters and behaviour as `/oauth2/token`, with three differences: `scope` in the answer is one string, errors also carry `error` and `error_description`, and a client may send its credentials as `Authorization: Basic`.',
  access: open,
  body: createToken.body,
  bodyFrom: 'anywhere',
  forms: openidGrants,
  credentials: 'client',
  returns: StandardTokenAnswer,
  standardErrors: true,
  problems: [...createToken.problems, 'malformed_basic', 'two_credentials'],
  example: {
    body: {
      grant_type: 'authorization_code',
      client_id: '<CLIENT_ID>',
      client_secret: '<CLIENT_SECRET>',
      code: '<CODE>',
      redirect_uri: 'http://localhost:3000/callback',
    },
    answer: {
      access_token: '<ACCESS_TOKEN>',
      expires_in: 14_400,
      refresh_token: '<REFRESH_TOKEN>',
      scope: 'openid user:read:follows',
      token_type: 'bearer',
      id_token: '<ID_TOKEN>',
    },
  },
})
