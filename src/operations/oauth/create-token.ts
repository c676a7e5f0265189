import { authenticateClient } from '../../auth/clients.ts'
import { expiry, hashOf, issueAppToken, isWellMade, mintSecret } from '../../auth/tokens.ts'
import { createToken } from '../../contract/oauth/create-token.ts'
import type { BodyOf } from '../../contract/operation.ts'
import { raise } from '../../contract/problem.ts'
import { isoMillis } from '../../kit/clock.ts'
import { implement, type Rooms } from '../implement.ts'
import { readScopes } from '../read-scopes.ts'

type Input = BodyOf<typeof createToken>

export const handleCreateToken = implement(createToken, async ({ body }, rooms) => {
  switch (body.grant_type) {
    case undefined:
      return raise('missing_grant_type')
    case 'client_credentials':
      return clientCredentials(body, rooms)
    case 'refresh_token':
      return refresh(body, rooms)
    default:
      return raise('unsupported_grant_type', body.grant_type)
  }
})

async function clientCredentials(body: Input, { store, clock, lifetimes }: Rooms) {
  const client = await authenticateClient(store, body)
  if (client.kind === 'public') raise('public_client')
  const { rows, answer } = issueAppToken(client.id, clock.now(), lifetimes.app_seconds)
  const result = await store.commands.issueTokens({ tokens: rows })
  return result.outcome === 'done' ? answer : raise('invalid_client')
}

/** A public client's refresh token is used once and replaced; a confidential client keeps its own. */
async function refresh(body: Input, { store, clock, lifetimes }: Rooms) {
  const client = await authenticateClient(store, body)
  const presented = body.refresh_token ?? raise('missing_refresh_token')
  if (!isWellMade(presented)) raise('invalid_refresh_token')
  readScopes(body.scope)
  const now = clock.now()
  const access_token = mintSecret('user')
  const successor = client.kind === 'public' ? mintSecret('refresh') : undefined
  const result = await store.commands.useRefreshToken({
    hash: hashOf(presented),
    client_id: client.id,
    now: isoMillis(now),
    access: { hash: hashOf(access_token), expires_at: expiry(now, lifetimes.user_seconds) },
    refresh:
      successor === undefined
        ? undefined
        : { hash: hashOf(successor), expires_at: expiry(now, lifetimes.refresh_seconds) },
  })
  if (result.outcome === 'refused') raise('invalid_refresh_token')
  return {
    access_token,
    expires_in: lifetimes.user_seconds,
    refresh_token: successor ?? presented,
    scope: result.scopes,
    token_type: 'bearer' as const,
  }
}
