import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { OpenidConfiguration } from '../resources/openid.ts'

export const getOpenidConfiguration = defineOperation('GET /oauth2/.well-known/openid-configuration', {
  id: 'GetOpenidConfiguration',
  summary: 'Describe the OpenID Connect provider to client libraries.',
  access: open,
  returns: OpenidConfiguration,
  cacheSeconds: 300,
  example: {
    answer: {
      issuer: 'http://localhost:8080/oauth2',
      authorization_endpoint: 'http://localhost:8080/oauth2/authorize',
      token_endpoint: 'http://localhost:8080/oauth2/openid/token',
      userinfo_endpoint: 'http://localhost:8080/oauth2/userinfo',
      jwks_uri: 'http://localhost:8080/oauth2/keys',
      revocation_endpoint: 'http://localhost:8080/oauth2/revoke',
      device_authorization_endpoint: 'http://localhost:8080/oauth2/device',
      scopes_supported: ['openid', 'user:read:follows'],
      response_types_supported: ['code', 'token'],
      response_modes_supported: ['query', 'fragment'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      prompt_values_supported: ['none', 'login', 'consent'],
      claims_supported: ['iss', 'sub', 'preferred_username'],
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    },
  },
})
