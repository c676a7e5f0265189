import { raise } from '../contract/problem.ts'
import type { Client } from '../contract/resources/world.ts'
import { sameSecret } from '../kit/digest.ts'
import type { Store } from '../store/store.ts'
import type { Attempts } from './attempts.ts'
import { hashOf } from './tokens.ts'

/** The client of this id, which proves nothing by it. */
export async function knownClient(
  store: Store,
  client_id: string | undefined,
): Promise<Pick<Client, 'id' | 'kind'>> {
  if (client_id === undefined) raise('missing_client_id')
  return (await store.clients.credentials(client_id)) ?? raise('invalid_client')
}

/** The client that these credentials prove. A public client proves nothing and needs no secret. */
export async function authenticateClient(
  { store, attempts }: { store: Store; attempts: Attempts },
  credentials: { client_id?: string | undefined; client_secret?: string | undefined },
  address: () => string,
): Promise<Pick<Client, 'id' | 'kind'>> {
  const { client_id, client_secret } = credentials
  if (client_id === undefined) raise('missing_client_id')
  const client = (await store.clients.credentials(client_id)) ?? raise('invalid_client')
  if (client.kind === 'public') return client
  if (client_secret === undefined) raise('missing_client_secret')
  if (client.secret_hash === null || !sameSecret(hashOf(client_secret), client.secret_hash)) {
    // The right secret always works: a stranger who guesses must not be able to lock a client out.
    const mayGuess = await attempts.begin(`client ${client_id}`, address())
    raise(mayGuess ? 'invalid_client_secret' : 'too_many_attempts')
  }
  return client
}
