import { hashOf, isWellFormed } from '../../auth/tokens.ts'
import { revokeToken } from '../../contract/oauth/revoke-token.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { implement } from '../implement.ts'

export const handleRevokeToken = implement(revokeToken, async ({ body }, { store, clock, limits }) => {
  const client_id = body.client_id ?? raise('missing_client_id')
  if ((await store.clients.credentials(client_id)) === undefined) raise('invalid_revoking_client', client_id)
  const token = body.token ?? raise('missing_oauth_token')
  if (!isWellFormed(token)) return undefined
  // Possession of the token is sufficient proof. Unknown tokens never reach the writer.
  const hash = hashOf(token)
  const held = await store.tokens.find(hash)
  if (held?.client_id !== client_id) return undefined
  limits.takeFromClient(client_id, { proved: true })
  await store.commands.revokeToken({ hash, client_id, now: isoMillis(clock.now()) })
  return undefined
})
