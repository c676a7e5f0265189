import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'

/** The answer of a token endpoint. An app token has neither refresh token nor scope; clients distinguish them by that. */
export const TokenAnswer = resource(
  'TokenAnswer',
  'An access token. An app token has neither refresh token nor scope.',
  {
    access_token: Type.String(),
    expires_in: Type.Integer({ minimum: 0 }),
    refresh_token: Type.Optional(Type.String()),
    scope: Type.Optional(Type.Array(Type.String())),
    token_type: Type.Literal('bearer'),
    id_token: Type.Optional(
      Type.String({
        description:
          'Identifies the user who logged in; only with the scope `openid` and a code or device code.',
      }),
    ),
  },
)

export type TokenAnswer = Static<typeof TokenAnswer>

/** The answer as in RFC 6749: scopes are one string. */
export const StandardTokenAnswer = resource(
  'StandardTokenAnswer',
  'An access token as in RFC 6749: scopes are one string.',
  {
    ...TokenAnswer.properties,
    scope: Type.Optional(Type.String({ description: 'Space-separated.' })),
  },
)

export const Validation = resource('Validation', 'What a token is for.', {
  client_id: Type.String(),
  login: Type.Optional(Type.String({ description: 'User tokens only.' })),
  scopes: Type.Array(Type.String()),
  user_id: Type.Optional(Type.String({ description: 'User tokens only.' })),
  expires_in: Type.Integer({ minimum: 0 }),
})
