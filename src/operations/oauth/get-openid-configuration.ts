import { issuerUrl } from '../../auth/id-token.ts'
import { getOpenidConfiguration } from '../../contract/oauth/get-openid-configuration.ts'
import { OPENID, SCOPES } from '../../contract/scope.ts'
import { implement } from '../implement.ts'

export const handleGetOpenidConfiguration = implement(getOpenidConfiguration, (_call, { publicUrl }) => {
  const issuer = issuerUrl(publicUrl)
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/openid/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    revocation_endpoint: `${issuer}/revoke`,
    device_authorization_endpoint: `${issuer}/device`,
    scopes_supported: [OPENID, ...SCOPES],
    response_types_supported: ['code', 'token'],
    response_modes_supported: ['query', 'fragment'],
    grant_types_supported: [
      'authorization_code',
      'implicit',
      'client_credentials',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: ['none', 'login', 'consent'],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'azp',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'at_hash',
      'preferred_username',
    ],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  }
})
