import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { TokenAnswer } from '../resources/token.ts'
import { Type } from '../schema.ts'

const Text = Type.Optional(Type.String())

/** The token endpoint: app tokens by `client_credentials`, new user tokens by `refresh_token`. */
export const createToken = defineOperation({
  id: 'CreateToken',
  summary: 'Exchanges credentials for an access token.',
  description:
    'Parameters come in the query string, a form or a JSON body. An Authorization header is ignored.',
  method: 'POST',
  path: '/oauth2/token',
  access: open,
  body: Type.Object({
    grant_type: Type.Optional(Type.String({ description: '`client_credentials` or `refresh_token`.' })),
    client_id: Text,
    client_secret: Text,
    refresh_token: Text,
    scope: Type.Optional(
      Type.String({ description: 'Tolerated; an app token has no scopes, a refreshed one keeps its own.' }),
    ),
  }),
  bodyFrom: 'anywhere',
  returns: TokenAnswer,
  problems: [
    'missing_grant_type',
    'unsupported_grant_type',
    'missing_client_id',
    'invalid_client',
    'missing_client_secret',
    'invalid_client_secret',
    'public_client',
    'missing_refresh_token',
    'invalid_refresh_token',
    'invalid_scope',
  ],
  example: {
    body: { grant_type: 'client_credentials', client_id: '<CLIENT_ID>', client_secret: '<CLIENT_SECRET>' },
    answer: { access_token: '<ACCESS_TOKEN>', expires_in: 5_184_000, token_type: 'bearer' },
  },
})
