import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { ReturnedUrl } from '../resources/id.ts'
import { ClientId, ClientSecret, Scopes } from '../resources/oauth-parameters.ts'
import { Type } from '../schema.ts'

/** The start of the device flow (RFC 8628): the device shows the user code and polls the token endpoint with the device code. */
export const createDeviceCode = defineOperation('POST /oauth2/device', {
  id: 'CreateDeviceCode',
  summary: 'Start the device flow: returns a device code and a user code to enter on the verification page.',
  description:
    'Parameters are accepted in the query string, a form or a JSON body. The device flow must be enabled for the client; it is enabled for public clients by default. A network can have 100 pending codes; another one invalidates the oldest.',
  access: open,
  body: Type.Object({
    client_id: ClientId,
    client_secret: ClientSecret('Optional; checked if a confidential client sends it.'),
    scopes: Scopes('Space-separated.'),
    scope: Scopes('Same as `scopes`, under the name of the standard.'),
  }),
  bodyFrom: 'anywhere',
  forms: {
    DeviceCodeRequest: {
      description: 'For a device code.',
      required: ['client_id'],
      optional: ['client_secret', 'scopes', 'scope'],
    },
  },
  returns: Type.Object({
    device_code: Type.String(),
    expires_in: Type.Integer(),
    interval: Type.Integer({ description: 'Seconds to wait between requests to the token endpoint.' }),
    user_code: Type.String(),
    verification_uri: ReturnedUrl,
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
