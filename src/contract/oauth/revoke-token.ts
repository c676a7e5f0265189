import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { ClientId, Token } from '../resources/oauth-parameters.ts'
import { Type } from '../schema.ts'

/** Unknown tokens and those of other clients are not revoked and get the same answer, except in strict mode. */
export const revokeToken = defineOperation('POST /oauth2/revoke', {
  id: 'RevokeToken',
  summary: 'Revoke an access or refresh token of the client.',
  access: open,
  status: 200,
  body: Type.Object({ client_id: ClientId, token: Token }),
  bodyFrom: 'anywhere',
  forms: {
    RevokeRequest: { description: 'To revoke a token.', required: ['client_id', 'token'], optional: [] },
  },
  problems: ['missing_client_id', 'invalid_revoking_client', 'missing_oauth_token'],
  example: { body: { client_id: '<CLIENT_ID>', token: '<ACCESS_TOKEN>' } },
})
