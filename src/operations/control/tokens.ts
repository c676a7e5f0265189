import { hashToken, issueAppToken, issueUserToken, userLifetimes } from '../../auth/tokens.ts'
import { endToken, issueToken } from '../../contract/control/tokens.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { readScopes } from '../read-scopes.ts'

export const handleIssueToken = implement(issueToken, async ({ body }, { store, clock, lifetimes }) => {
  const { client_id, user_id, expires_in } = body
  const scopes = readScopes(body.scopes)
  if (isRefusal(scopes)) return scopes
  if (user_id === undefined && scopes.length > 0) {
    return refuse(
      'refused_reference',
      'An app token has no scopes: leave "scopes" out, or name the user in "user_id".',
    )
  }
  const client = await store.clients.find(client_id)
  if (client === undefined) return refuse('unknown_reference', 'client', client_id)
  const now = clock.now()
  const { rows, answer } =
    user_id === undefined
      ? issueAppToken(client_id, now, expires_in ?? lifetimes.app_seconds)
      : issueUserToken({ client_id, user_id, scopes }, now, {
          ...userLifetimes(client.kind, lifetimes),
          user_seconds: expires_in ?? lifetimes.user_seconds,
        })
  const refused = await store.commands.issueTokens({ tokens: rows })
  return refused ?? { data: [{ ...answer, scope: answer.scope ?? [] }] }
})

export const handleEndToken = implement(endToken, ({ body }, { store }) =>
  store.commands.revokeToken({ hash: hashToken(body.token) }),
)
