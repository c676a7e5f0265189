import { authenticateClient } from '../../auth/clients.ts'
import { issueUserToken, userLifetimes } from '../../auth/tokens.ts'
import { mintUserToken } from '../../contract/oauth/mint-user-token.ts'
import { isRefusal, refuse } from '../../contract/problem.ts'
import { CAPS } from '../../store/commands/cap-sizes.ts'
import { implement } from '../implement.ts'
import { readScopes } from '../read-scopes.ts'

export const handleMintUserToken = implement(
  mintUserToken,
  async ({ body, address }, { store, clock, lifetimes, attempts, limits, strict }) => {
    if (body.grant_type === undefined) return refuse('missing_grant_type')
    if (body.grant_type !== 'user_token') return refuse('unsupported_grant_type', body.grant_type)
    const client = await authenticateClient({ store, attempts, limits }, body, address)
    if (isRefusal(client)) return client
    const { user_id } = body
    if (user_id === undefined) return refuse('missing_user_id')
    const scopes = readScopes(body.scope, { strict })
    if (isRefusal(scopes)) return scopes
    const { rows, answer } = issueUserToken(
      { client_id: client.id, user_id, scopes },
      clock.now(),
      userLifetimes(client.kind, lifetimes),
    )
    const mostGrants = CAPS.mintedGrantsOfUserAndClient
    const refused = await store.commands.issueTokens({ tokens: rows, mostGrants })
    return refused ? refuse('unknown_user', user_id) : answer
  },
)
