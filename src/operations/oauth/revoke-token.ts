import { hashToken, isWellFormed } from '../../auth/tokens.ts'
import { revokeToken } from '../../contract/oauth/revoke-token.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { implement, type Services } from '../implement.ts'

export const handleRevokeToken = implement(revokeToken, async ({ body }, services) => {
  const { store, strict } = services
  const { client_id, token } = body
  if (client_id === undefined) return refuse('missing_client_id')
  if ((await store.clients.credentials(client_id)) === undefined)
    return strict ? refuse('revoking_client_not_found') : refuse('invalid_revoking_client', client_id)
  if (token === undefined) return refuse('missing_oauth_token')
  const wasRevoked = await revoke(token, client_id, services)
  return strict && !wasRevoked ? refuse('token_not_revocable') : undefined
})

/** Possession of the token is sufficient proof. Unknown tokens never reach the writer. */
async function revoke(
  token: string,
  client_id: string,
  { store, clock, limits }: Pick<Services, 'store' | 'clock' | 'limits'>,
): Promise<boolean> {
  if (!isWellFormed(token)) return false
  const hash = hashToken(token)
  const held = await store.tokens.find(hash)
  if (held?.client_id !== client_id) return false
  limits.takeFromClient(client_id, { proved: true })
  return !isRefusal(await store.commands.revokeToken({ hash, client_id, now: isoMillis(clock.now()) }))
}
