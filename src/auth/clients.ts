import { raise } from '../contract/problem.ts'
import type { Client } from '../contract/resources/world.ts'
import { sameSecret } from '../kit/digest.ts'
import type { Store } from '../store/store.ts'
import { hashOf } from './tokens.ts'

/** The client that these credentials prove. A public client proves nothing and needs no secret. */
export async function authenticateClient(
  store: Store,
  credentials: { client_id?: string | undefined; client_secret?: string | undefined },
): Promise<Pick<Client, 'id' | 'kind'>> {
  const { client_id, client_secret } = credentials
  if (client_id === undefined) raise('missing_client_id')
  const client = (await store.clients.credentials(client_id)) ?? raise('invalid_client')
  if (client.kind === 'public') return client
  if (client_secret === undefined) raise('missing_client_secret')
  if (client.secret_hash === null || !sameSecret(hashOf(client_secret), client.secret_hash)) {
    raise('invalid_client_secret')
  }
  return client
}
