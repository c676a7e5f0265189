import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { SigningKey } from '../resources/openid.ts'
import { Type } from '../schema.ts'

export const getSigningKeys = defineOperation('GET /oauth2/keys', {
  id: 'GetSigningKeys',
  summary: 'List the public keys that verify ID tokens.',
  description: 'A new key is listed before it is used, and the previous key for one day after.',
  access: open,
  returns: Type.Object({ keys: Type.Array(SigningKey) }),
  cacheSeconds: 300,
  example: {
    answer: {
      keys: [{ kty: 'RSA', kid: '<KEY_ID>', use: 'sig', alg: 'RS256', n: '<MODULUS>', e: 'AQAB' }],
    },
  },
})
