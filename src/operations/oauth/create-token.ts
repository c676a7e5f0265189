import { authenticateClient } from '../../auth/clients.ts'
import { type IdTokenSubject, idTokenClaims, issuerUrl } from '../../auth/id-token.ts'
import { hashToken, issueAppToken, isWellFormed, mintPair, userLifetimes } from '../../auth/tokens.ts'
import { createToken } from '../../contract/oauth/create-token.ts'
import type { BodyOf } from '../../contract/operation.ts'
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import type { TokenAnswer } from '../../contract/resources/token.ts'
import { OPENID } from '../../contract/scope.ts'
import { computeChallenge } from '../../domain/oauth/pkce.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { CAPS } from '../../store/commands/cap-sizes.ts'
import { implement, type Services } from '../implement.ts'
import { readScopes, refuseManyScopes } from '../read-scopes.ts'

type Input = BodyOf<typeof createToken>

type GrantServices = Pick<Services, 'store' | 'clock' | 'lifetimes' | 'attempts' | 'limits'>
type IdTokenServices = Pick<Services, 'clock' | 'signingKeys' | 'publicUrl'>
export type TokenServices = GrantServices & IdTokenServices

export const handleCreateToken = implement(createToken, ({ body, address }, services: TokenServices) =>
  exchange(body, services, address),
)

/** Handles every grant type, for both token endpoints. */
export async function exchange(
  body: Input,
  services: TokenServices,
  address: () => string,
): Promise<TokenAnswer | Refusal<(typeof createToken.problems)[number]>> {
  switch (body.grant_type) {
    case undefined:
      return refuse('missing_grant_type')
    case 'client_credentials':
      return clientCredentials(body, services, address)
    case 'authorization_code':
      return redeemCode(body, services, address)
    case 'refresh_token':
      return refreshGrant(body, services, address)
    case 'urn:ietf:params:oauth:grant-type:device_code':
      return redeemDevice(body, services, address)
    default:
      return refuse('unsupported_grant_type', body.grant_type)
  }
}

async function clientCredentials(body: Input, services: GrantServices, address: () => string) {
  const { store, clock, lifetimes } = services
  const client = await authenticateClient(services, body, address)
  if (isRefusal(client)) return client
  if (client.kind === 'public') return refuse('public_client')
  const excess = refuseManyScopes(body.scope)
  if (excess !== undefined) return excess
  const { rows, answer } = issueAppToken(client.id, clock.now(), lifetimes.app_seconds)
  const mostGrants = CAPS.grantsOfUserAndClient
  const refused = await store.commands.issueTokens({ tokens: rows, mostGrants })
  return refused ? refuse('invalid_client') : answer
}

/** A public client's refresh token is single-use and replaced; a confidential client's stays valid. */
async function refreshGrant(body: Input, services: GrantServices, address: () => string) {
  const { store, clock, lifetimes } = services
  const client = await authenticateClient(services, body, address)
  if (isRefusal(client)) return client
  const presented = body.refresh_token
  if (presented === undefined) return refuse('missing_refresh_token')
  if (!isWellFormed(presented)) return refuse('invalid_refresh_token')
  const scopes = readScopes(body.scope)
  if (isRefusal(scopes)) return scopes
  const now = clock.now()
  const { access, refresh, answer } = mintPair(now, lifetimes)
  const successor = client.kind === 'public' ? refresh : undefined
  const exchanged = await store.commands.useRefreshToken({
    hash: hashToken(presented),
    client_id: client.id,
    now: isoMillis(now),
    access,
    refresh: successor,
  })
  if (isRefusal(exchanged)) return exchanged
  return { ...answer(exchanged.scopes), ...(!successor && { refresh_token: presented }) }
}

/** Adds an ID token if the scopes include `openid`. */
async function withIdToken<A extends TokenAnswer>(
  answer: A,
  about: Pick<IdTokenSubject, 'client_id' | 'user' | 'nonce' | 'authenticated_at'>,
  { signingKeys, publicUrl, clock }: IdTokenServices,
): Promise<TokenAnswer> {
  if (!answer.scope?.includes(OPENID)) return answer
  const subject = { ...about, issuer: issuerUrl(publicUrl), access_token: answer.access_token }
  return { ...answer, id_token: await signingKeys.sign(idTokenClaims(subject, clock.now())) }
}

async function redeemCode(body: Input, services: TokenServices, address: () => string) {
  const { store, clock, lifetimes } = services
  const client = await authenticateClient(services, body, address)
  if (isRefusal(client)) return client
  const { code } = body
  if (code === undefined) return refuse('missing_code')
  if (!isWellFormed(code)) return refuse('invalid_code')
  const now = clock.now()
  const { access, refresh, answer } = mintPair(now, userLifetimes(client.kind, lifetimes))
  const { code_verifier } = body
  const exchanged = await store.commands.useCode({
    hash: hashToken(code),
    client_id: client.id,
    redirect_uri: body.redirect_uri,
    answered: code_verifier === undefined ? undefined : computeChallenge(code_verifier),
    now: isoMillis(now),
    access,
    refresh,
  })
  if (isRefusal(exchanged)) return exchanged
  const about = { client_id: client.id, user: exchanged.user, ...exchanged.openid }
  return withIdToken(answer(exchanged.scopes), about, services)
}

/**
 * For a public client the device code is sufficient: a secret on the device would not stay secret. A confidential client
 * must send its secret, so that an attacker cannot phish a user with a device code issued in the client's name.
 */
async function redeemDevice(body: Input, services: TokenServices, address: () => string) {
  const { store, clock, lifetimes, limits } = services
  const client = await authenticateClient(services, body, address)
  if (isRefusal(client)) return client
  if (!client.device_flow) return refuse('device_flow_off')
  const { device_code } = body
  if (device_code === undefined) return refuse('missing_device_code')
  const excess = refuseManyScopes(body.scopes)
  if (excess !== undefined) return excess
  const hash = hashToken(device_code)
  limits.takeForPoll(hash)
  const now = clock.now()
  const decision = await store.accounts.deviceDecision(hash, client.id, isoMillis(now))
  if (decision === 'pending') return refuse('authorization_pending')
  const { access, refresh, answer } = mintPair(now, userLifetimes(client.kind, lifetimes))
  const exchanged = await store.commands.useDevice({
    hash,
    client_id: client.id,
    now: isoMillis(now),
    access,
    refresh,
  })
  if (isRefusal(exchanged)) return exchanged
  return withIdToken(answer(exchanged.scopes), { client_id: client.id, user: exchanged.user }, services)
}
