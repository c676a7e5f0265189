import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { grants } from '../resources/grants.ts'
import {
  ClientId,
  ClientSecret,
  GrantType,
  RedirectUri,
  Scopes,
  Token,
  text,
} from '../resources/oauth-parameters.ts'
import { TokenAnswer } from '../resources/token.ts'
import { Type } from '../schema.ts'

/** The token endpoint of all grants except the implicit one. */
export const createToken = defineOperation('POST /oauth2/token', {
  id: 'CreateToken',
  summary: 'Exchange credentials for an access token.',
  description:
    'Parameters are accepted in the query string, a form or a JSON body. An Authorization header is ignored.',
  access: open,
  body: Type.Object({
    grant_type: GrantType(
      '`client_credentials`, `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:device_code`.',
    ),
    client_id: ClientId,
    client_secret: ClientSecret('Required for confidential clients, with every grant.'),
    code: Token,
    redirect_uri: RedirectUri,
    code_verifier: text(1000, 'Required if the authorization request had a `code_challenge`.'),
    device_code: Token,
    scopes: Scopes('Ignored with a device code, which has its scopes already.'),
    refresh_token: Token,
    scope: Scopes('Ignored: app tokens have no scopes, and refreshed tokens keep theirs.'),
  }),
  bodyFrom: 'anywhere',
  forms: grants,
  returns: TokenAnswer,
  problems: [
    'missing_grant_type',
    'unsupported_grant_type',
    'missing_client_id',
    'invalid_client',
    'missing_client_secret',
    'invalid_client_secret',
    'too_many_attempts',
    'public_client',
    'missing_code',
    'invalid_code',
    'other_redirect',
    'wrong_verifier',
    'missing_device_code',
    'invalid_device_code',
    'authorization_pending',
    'access_denied',
    'slow_down',
    'device_flow_off',
    'missing_refresh_token',
    'invalid_refresh_token',
    'invalid_scope',
    'too_many_scopes',
  ],
  example: {
    body: { grant_type: 'client_credentials', client_id: '<CLIENT_ID>', client_secret: '<CLIENT_SECRET>' },
    answer: { access_token: '<ACCESS_TOKEN>', expires_in: 5_184_000, token_type: 'bearer' },
  },
})
