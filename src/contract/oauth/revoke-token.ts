import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { ClientId, Token } from '../resources/oauth-parameters.ts'
import { Type } from '../schema.ts'

/** Ends a token. One that is unknown, or another client's, changes nothing and is answered alike. */
export const revokeToken = defineOperation('POST /oauth2/revoke', {
  id: 'RevokeToken',
  summary: 'Revokes an access or refresh token of the client.',
  access: open,
  status: 200,
  body: Type.Object({ client_id: ClientId, token: Token }),
  bodyFrom: 'anywhere',
  problems: ['missing_client_id', 'invalid_revoking_client', 'missing_oauth_token'],
  example: { body: { client_id: '<CLIENT_ID>', token: '<ACCESS_TOKEN>' } },
})
