import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { TokenAnswer } from '../resources/token.ts'
import { Type } from '../schema.ts'

const Text = Type.Optional(Type.String())

/** The grant that client libraries use in their mock mode: a user token at once, without a page. Demo only. */
export const mintUserToken = defineOperation({
  id: 'MintUserToken',
  summary: 'Mints a user token without asking the user.',
  method: 'POST',
  path: '/oauth2/authorize',
  access: open,
  body: Type.Object({
    grant_type: Type.Optional(Type.String({ description: '`user_token`.' })),
    client_id: Text,
    client_secret: Text,
    user_id: Type.Optional(Type.String({ numberIsText: true })),
    scope: Type.Optional(Type.String({ description: 'Space separated.' })),
  }),
  bodyFrom: 'anywhere',
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
