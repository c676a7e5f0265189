import type { BodyForm } from '../operation.ts'

const CLIENT = ['client_id', 'client_secret']

interface Grant extends BodyForm {
  readonly fixed: { readonly grant_type: string }
}

/** What each grant needs. Public clients have no secret. */
export const grants = {
  ClientCredentialsGrant: {
    description: 'For an app token.',
    fixed: { grant_type: 'client_credentials' },
    required: CLIENT,
    optional: ['scope', 'scopes'],
  },
  AuthorizationCodeGrant: {
    description: 'For a user token, with the code that the authorization page redirected with.',
    fixed: { grant_type: 'authorization_code' },
    required: ['client_id', 'code', 'redirect_uri'],
    optional: ['client_secret', 'code_verifier', 'scope', 'scopes'],
  },
  RefreshTokenGrant: {
    description: 'For another user token, with the refresh token of the last.',
    fixed: { grant_type: 'refresh_token' },
    required: ['client_id', 'refresh_token'],
    optional: ['client_secret', 'scope', 'scopes'],
  },
  DeviceCodeGrant: {
    description: 'For a user token, with the device code of CreateDeviceCode.',
    fixed: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' },
    required: ['client_id', 'device_code'],
    optional: ['client_secret', 'scope', 'scopes'],
  },
} as const satisfies Record<string, Grant>

/** The same where client id and secret may be sent as `Authorization: Basic` instead. */
export const openidGrants: Readonly<Record<string, BodyForm>> = Object.fromEntries(
  Object.entries(grants).map(([name, { required, optional, ...grant }]) => {
    const others = (required as readonly string[]).filter(field => !CLIENT.includes(field))
    return [`Openid${name}`, { ...grant, required: others, optional: [...new Set([...CLIENT, ...optional])] }]
  }),
)
