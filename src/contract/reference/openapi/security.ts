import type { Family, Operation } from '../../operation.ts'
import { SCOPE_TEXTS } from '../../scope-texts.ts'
import type { Json } from './schemas.ts'

/** The kinds of credentials, under the names that operations refer to. */
export function securitySchemes(serverUrl: string, families: readonly Family[]): Json {
  const tokenUrl = `${serverUrl}/oauth2/token`
  return {
    appToken: {
      type: 'oauth2',
      description: 'An app access token. It has no scopes.',
      flows: { clientCredentials: { tokenUrl, scopes: {} } },
    },
    userToken: {
      type: 'oauth2',
      description: 'A user access token. The device flow (CreateDeviceCode) issues one too.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${serverUrl}/oauth2/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes: SCOPE_TEXTS,
        },
      },
    },
    clientSecret: {
      type: 'http',
      scheme: 'basic',
      description: 'Client id and client secret, both form-encoded (RFC 6749, 2.3.1).',
    },
    ...(families.includes('control') && {
      operatorToken: { type: 'http', scheme: 'bearer', description: 'An operator token.' },
    }),
  }
}

const NONE = {}
const APP = { appToken: [] }
const ANY_TOKEN = [APP, { userToken: [] }]

/** The credentials of an operation: one of these. In strict mode no operation of Helix is without a token. */
export function describeSecurity({ access, credentials }: Operation, strict: boolean): readonly Json[] {
  switch (access.kind) {
    case 'operator':
      return [{ operatorToken: [] }]
    case 'anyone':
      return strict ? ANY_TOKEN : [NONE, ...ANY_TOKEN]
    case 'token':
      if (access.scopes.length === 0) return access.app ? ANY_TOKEN : [{ userToken: [] }]
      return [...(access.app ? [APP] : []), ...access.scopes.map(scope => ({ userToken: [scope] }))]
    case 'open':
      return credentials === undefined ? [] : CHECKED_BY_HANDLERS[credentials]
  }
}

const CHECKED_BY_HANDLERS: Readonly<Record<NonNullable<Operation['credentials']>, readonly Json[]>> = {
  token: ANY_TOKEN,
  openid: [{ userToken: ['openid'] }],
  client: [NONE, { clientSecret: [] }],
}
