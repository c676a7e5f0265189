/** Clients and tokens made for one proof. */
import type { TestServer } from '../../support/server.ts'

export async function newClient(server: TestServer, organization_id: string | null): Promise<string> {
  const [{ id }] = await server.control('POST', '/clients', { name: 'Made for a proof', organization_id })
  return id
}

export async function tokenOf(
  server: TestServer,
  of: { client_id: string; user_id?: string; scopes?: readonly string[] },
): Promise<string> {
  const [{ access_token }] = await server.control('POST', '/tokens', of)
  return access_token
}
