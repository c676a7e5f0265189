import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { ClientId, ClientSecret, Scopes } from '../resources/oauth-parameters.ts'
import { Type } from '../schema.ts'

/** A device without a keyboard asks: it shows the user code, and polls the token endpoint with its own (RFC 8628). */
export const createDeviceCode = defineOperation('POST /oauth2/device', {
  id: 'CreateDeviceCode',
  summary: 'Gives a device a code for a person to type at the verification page.',
  description:
    'Parameters come in the query string, a form or a JSON body. A client must have the device flow switched on; public ones have unless it was switched off. Codes that wait are counted by network: the 101st makes the oldest void.',
  access: open,
  body: Type.Object({
    client_id: ClientId,
    client_secret: ClientSecret('Not needed here, but checked if a confidential client sends it.'),
    scopes: Scopes('Space separated.'),
    scope: Scopes('The same, by its name in the standard.'),
  }),
  bodyFrom: 'anywhere',
  returns: Type.Object({
    device_code: Type.String(),
    expires_in: Type.Integer(),
    interval: Type.Integer({ description: 'Seconds to wait between two attempts at the token endpoint.' }),
    user_code: Type.String(),
    verification_uri: Type.String(),
  }),
  problems: [
    'missing_client_id',
    'invalid_client',
    'invalid_client_secret',
    'too_many_attempts',
    'device_flow_off',
    'invalid_scope',
    'too_many_scopes',
  ],
  example: {
    body: { client_id: '<CLIENT_ID>', scopes: 'user:read:follows' },
    answer: {
      device_code: '<DEVICE_CODE>',
      expires_in: 1800,
      interval: 5,
      user_code: 'BCDFGHJK',
      verification_uri: 'http://localhost:8080/activate?device-code=BCDFGHJK',
    },
  },
})
