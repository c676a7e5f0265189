import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { ReturnedUrl } from './id.ts'

/** A public key that verifies ID tokens (RFC 7517). */
export const SigningKey = resource('SigningKey', 'A public key that verifies ID tokens (RFC 7517).', {
  kty: Type.Literal('RSA'),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.Literal('RS256'),
  n: Type.String(),
  e: Type.String(),
})
export type SigningKey = Static<typeof SigningKey>

const Url = ReturnedUrl
const Texts = Type.Array(Type.String())

/** The discovery document (OpenID Connect Discovery 1.0, RFC 8414). */
export const OpenidConfiguration = resource(
  'OpenidConfiguration',
  'The discovery document (OpenID Connect Discovery 1.0, RFC 8414).',
  {
    issuer: Url,
    authorization_endpoint: Url,
    token_endpoint: Url,
    userinfo_endpoint: Url,
    jwks_uri: Url,
    revocation_endpoint: Url,
    device_authorization_endpoint: Url,
    scopes_supported: Texts,
    response_types_supported: Texts,
    response_modes_supported: Texts,
    grant_types_supported: Texts,
    subject_types_supported: Texts,
    id_token_signing_alg_values_supported: Texts,
    token_endpoint_auth_methods_supported: Texts,
    revocation_endpoint_auth_methods_supported: Texts,
    code_challenge_methods_supported: Texts,
    prompt_values_supported: Texts,
    claims_supported: Texts,
    claims_parameter_supported: Type.Boolean(),
    request_parameter_supported: Type.Boolean(),
    request_uri_parameter_supported: Type.Boolean(),
  },
)

export const UserInfo = resource('UserInfo', 'Claims about the user of a token.', {
  sub: Type.String({ description: 'The user id.' }),
  iss: Url,
  aud: Type.String({ description: 'The client of the token.' }),
  azp: Type.String(),
  exp: Type.Integer({ description: 'Expiry of the token, in Unix seconds.' }),
  iat: Type.Integer({ description: 'Current time, in Unix seconds.' }),
  preferred_username: Type.String({ description: 'The display name.' }),
})
