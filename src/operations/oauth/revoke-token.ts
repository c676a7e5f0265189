import { hashOf, isWellMade } from '../../auth/tokens.ts'
import { revokeToken } from '../../contract/oauth/revoke-token.ts'
import { raise } from '../../contract/problem.ts'
import { implement } from '../implement.ts'

export const handleRevokeToken = implement(revokeToken, async ({ body }, { store }) => {
  const client_id = body.client_id ?? raise('missing_client_id')
  if ((await store.clients.credentials(client_id)) === undefined) raise('invalid_revoking_client', client_id)
  const token = body.token ?? raise('missing_oauth_token')
  if (isWellMade(token)) await store.commands.revokeToken({ hash: hashOf(token), client_id })
  return undefined
})
