import { isRefusal, refuse } from '../contract/problem.ts'
import { sameSecret } from '../kit/crypto/digest.ts'
import type { ClientCredentials } from '../store/queries/clients.ts'
import type { Store } from '../store/store.ts'
import type { Attempts } from './attempts.ts'
import type { OAuthLimits } from './oauth-limits.ts'
import { hashToken } from './tokens.ts'

interface ClientServices {
  readonly store: Store
  readonly attempts: Attempts
  readonly limits: OAuthLimits
}

interface RequestCredentials {
  readonly client_id?: string | undefined
  readonly client_secret?: string | undefined
}

/** The client with this id. It need not authenticate, but if it sends a secret, that must be right. */
export async function namedClient(
  services: ClientServices,
  credentials: RequestCredentials,
  address: () => string,
) {
  const client = await findClient(services, credentials)
  if (isRefusal(client)) return client
  const { client_secret } = credentials
  return client.kind === 'public' || client_secret === undefined
    ? unprovedClient(services, client)
    : provedClient(services, client, client_secret, address)
}

/** Authenticates a client by its credentials. A public client has no secret and is not authenticated. */
export async function authenticateClient(
  services: ClientServices,
  credentials: RequestCredentials,
  address: () => string,
) {
  const client = await findClient(services, credentials)
  if (isRefusal(client)) return client
  const { client_secret } = credentials
  if (client.kind === 'public') return unprovedClient(services, client)
  if (client_secret === undefined) return refuse('missing_client_secret')
  return provedClient(services, client, client_secret, address)
}

async function findClient({ store }: ClientServices, { client_id }: RequestCredentials) {
  if (client_id === undefined) return refuse('missing_client_id')
  return (await store.clients.credentials(client_id)) ?? refuse('invalid_client')
}

function unprovedClient({ limits }: ClientServices, client: ClientCredentials): ClientCredentials {
  limits.takeFromClient(client.id, { proved: false })
  return client
}

async function provedClient(
  { attempts, limits }: ClientServices,
  client: ClientCredentials,
  secret: string,
  address: () => string,
) {
  if (client.secret_hash === null || !sameSecret(hashToken(secret), client.secret_hash)) {
    // The right secret always works: guessing by others must not lock a client out.
    const mayGuess = await attempts.begin(`client ${client.id}`, address())
    return mayGuess ? refuse('invalid_client_secret') : refuse('too_many_attempts')
  }
  limits.takeFromClient(client.id, { proved: true })
  return client
}
