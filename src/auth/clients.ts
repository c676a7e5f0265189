import { raise } from '../contract/problem.ts'
import { sameSecret } from '../kit/digest.ts'
import type { ClientCredentials } from '../store/queries/clients.ts'
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
export const namedClient = (
  services: ClientServices,
  credentials: RequestCredentials,
  address: () => string,
) => clientOf(services, credentials, address, credentials.client_secret !== undefined)

/** Authenticates a client by its credentials. A public client has no secret and is not authenticated. */
export const authenticateClient = (
  services: ClientServices,
  credentials: RequestCredentials,
  address: () => string,
) => clientOf(services, credentials, address, true)

async function clientOf(
  services: ClientServices,
  { client_id, client_secret }: RequestCredentials,
  address: () => string,
  isChecked: boolean,
): Promise<ClientCredentials> {
  if (client_id === undefined) raise('missing_client_id')
  const client = (await services.store.clients.credentials(client_id)) ?? raise('invalid_client')
  const proved = isChecked && client.kind === 'confidential'
  if (proved) await requireSecret(services, client, client_secret, address)
  services.limits.takeFromClient(client.id, { proved })
  return client
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
