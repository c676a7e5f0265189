import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { ClientId, ClientSecret, GrantType, Scopes } from '../resources/oauth-parameters.ts'
import { TokenAnswer } from '../resources/token.ts'
import { Type } from '../schema.ts'

/** The grant that client libraries use in their mock mode: a user token without a login page. Demo only. */
export const mintUserToken = defineOperation('POST /oauth2/authorize', {
  id: 'MintUserToken',
  summary: 'Issue a user token without asking the user.',
  access: open,
  body: Type.Object({
    grant_type: GrantType('`user_token`.'),
    client_id: ClientId,
    client_secret: ClientSecret(),
    user_id: Type.Optional(Type.String({ numberIsText: true, maxLength: 100 })),
    scope: Scopes('Space-separated.'),
  }),
  bodyFrom: 'anywhere',
  forms: {
    UserTokenGrant: {
      description: 'For a user token in demo mode.',
      fixed: { grant_type: 'user_token' },
      required: ['client_id', 'client_secret', 'user_id'],
      optional: ['scope'],
    },
  },
  returns: TokenAnswer,
  demoOnly: true,
  problems: [
    'missing_grant_type',
    'unsupported_grant_type',
    'missing_client_id',
    'invalid_client',
    'missing_client_secret',
    'invalid_client_secret',
    'too_many_attempts',
    'missing_user_id',
    'unknown_user',
    'invalid_scope',
    'too_many_scopes',
  ],
  example: {
    body: {
      grant_type: 'user_token',
      client_id: '<CLIENT_ID>',
      client_secret: '<CLIENT_SECRET>',
      user_id: '141981764',
      scope: 'user:read:follows',
    },
    answer: {
      access_token: '<ACCESS_TOKEN>',
      expires_in: 14_400,
      refresh_token: '<REFRESH_TOKEN>',
      scope: ['user:read:follows'],
      token_type: 'bearer',
    },
  },
})
