import { raise } from '../contract/problem.ts'
import { sameSecret } from '../kit/digest.ts'
import type { ClientCredentials } from '../store/queries/world.ts'
import type { Store } from '../store/store.ts'
import type { Attempts } from './attempts.ts'
import type { OAuthLimits } from './oauth-limits.ts'
import { hashOf } from './tokens.ts'

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
): Promise<ClientCredentials> {
  const client = await knownClient(services.store, credentials.client_id)
  const sendsSecret = client.kind === 'confidential' && credentials.client_secret !== undefined
  if (sendsSecret) await requireSecret(services, client, credentials.client_secret, address)
  services.limits.takeFromClient(client.id, { proved: sendsSecret })
  return client
}

/** Authenticates a client by its credentials. A public client has no secret and is not authenticated. */
export async function authenticateClient(
  services: ClientServices,
  credentials: RequestCredentials,
  address: () => string,
): Promise<ClientCredentials> {
  const client = await knownClient(services.store, credentials.client_id)
  const isConfidential = client.kind === 'confidential'
  if (isConfidential) await requireSecret(services, client, credentials.client_secret, address)
  services.limits.takeFromClient(client.id, { proved: isConfidential })
  return client
}

async function knownClient(store: Store, client_id: string | undefined): Promise<ClientCredentials> {
  if (client_id === undefined) raise('missing_client_id')
  return (await store.clients.credentials(client_id)) ?? raise('invalid_client')
}

async function requireSecret(
  { attempts }: ClientServices,
  client: ClientCredentials,
  secret: string | undefined,
  address: () => string,
): Promise<void> {
  if (secret === undefined) raise('missing_client_secret')
  if (client.secret_hash !== null && sameSecret(hashOf(secret), client.secret_hash)) return
  // The right secret always works: guessing by others must not lock a client out.
  const mayGuess = await attempts.begin(`client ${client.id}`, address())
  raise(mayGuess ? 'invalid_client_secret' : 'too_many_attempts')
}
