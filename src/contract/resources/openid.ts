import type { Static } from 'typebox'
import { Type } from '../schema.ts'

/** A public key that verifies ID tokens (RFC 7517). */
export const SigningKey = Type.Object({
  kty: Type.Literal('RSA'),
  kid: Type.String(),
  use: Type.Literal('sig'),
  alg: Type.Literal('RS256'),
  n: Type.String(),
  e: Type.String(),
})
export type SigningKey = Static<typeof SigningKey>

const Url = Type.String()
const Texts = Type.Array(Type.String())

/** The discovery document (OpenID Connect Discovery 1.0, RFC 8414). */
export const OpenidConfiguration = Type.Object({
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
})

export const UserInfo = Type.Object({
  sub: Type.String({ description: 'The user id.' }),
  iss: Type.String(),
  aud: Type.String({ description: 'The client of the token.' }),
  azp: Type.String(),
  exp: Type.Integer({ description: 'Expiry of the token, in Unix seconds.' }),
  iat: Type.Integer({ description: 'Current time, in Unix seconds.' }),
  preferred_username: Type.String({ description: 'The display name.' }),
})
