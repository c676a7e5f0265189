/** What the token endpoint needs with each grant. A public client has no secret. */
export const GRANTS: readonly {
  readonly grant: string
  readonly name: string
  readonly required: readonly string[]
  readonly optional: readonly string[]
}[] = [
  {
    grant: 'client_credentials',
    name: 'ClientCredentials',
    required: ['client_id', 'client_secret'],
    optional: ['scope'],
  },
  {
    grant: 'authorization_code',
    name: 'AuthorizationCode',
    required: ['client_id', 'code', 'redirect_uri'],
    optional: ['client_secret', 'code_verifier'],
  },
  {
    grant: 'refresh_token',
    name: 'RefreshToken',
    required: ['client_id', 'refresh_token'],
    optional: ['client_secret', 'scope'],
  },
  {
    grant: 'urn:ietf:params:oauth:grant-type:device_code',
    name: 'DeviceCode',
    required: ['client_id', 'device_code'],
    optional: ['client_secret', 'scopes'],
  },
]
