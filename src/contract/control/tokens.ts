import { controlOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { listSchema } from '../resources/list.ts'
import { TokenAnswer } from '../resources/token.ts'
import { Type } from '../schema.ts'

/** Tokens that the operator issues and revokes. */
export const issueToken = controlOperation('POST /control/tokens', {
  id: 'IssueToken',
  summary: 'Issue a token: a user token with `user_id`, otherwise an app token.',
  body: Type.Object({
    client_id: Type.String(),
    user_id: Type.Optional(Type.String()),
    scopes: Type.Optional(listSchema(Type.String(), 0, 100)),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 315_360_000, description: 'Seconds.' })),
  }),
  returns: singleSchema(TokenAnswer),
  problems: ['unknown_reference', 'user_suspended', 'invalid_scope', 'too_many_scopes', 'refused_reference'],
  example: {
    body: { client_id: '<CLIENT_ID>', user_id: '141981764', scopes: ['user:read:follows'] },
    answer: {
      data: [
        {
          access_token: '<ACCESS_TOKEN>',
          refresh_token: '<REFRESH_TOKEN>',
          expires_in: 14_400,
          scope: ['user:read:follows'],
          token_type: 'bearer',
        },
      ],
    },
  },
})

export const endToken = controlOperation('DELETE /control/tokens', {
  id: 'EndToken',
  summary: 'Revoke an access or refresh token.',
  body: Type.Object({ token: Type.String({ minLength: 1 }) }),
  problems: ['token_not_found'],
  example: { body: { token: '<ACCESS_TOKEN>' } },
})
