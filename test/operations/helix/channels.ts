/** A user with a channel of their own, made for one proof. */
import type { TestServer } from '../../support/server.ts'
import { tokenOf } from './callers.ts'
import type { Row } from './page-rules.ts'

export interface NewChannel {
  readonly id: string
  readonly login: string
  /** A token of the world's client with the scopes asked for. */
  readonly token: string
}

let made = 0

export async function newChannel(
  server: TestServer,
  scopes: readonly string[] = ['channel:manage:broadcast', 'user:read:broadcast'],
): Promise<NewChannel> {
  const [user] = await server.control('POST', '/users', { login: `made_for_proof_${++made}` })
  const token = await tokenOf(server, { client_id: server.world.client.id, user_id: user.id, scopes })
  return { id: user.id, login: user.login, token }
}

/** Goes live; gives the stream as it is shown. */
export async function goLive(server: TestServer, user_id: string, stream: object = {}): Promise<Row> {
  const [live] = await server.control('PUT', `/channels/${user_id}/stream`, stream)
  return live
}

export async function goOffline(server: TestServer, user_id: string): Promise<void> {
  await server.control('DELETE', `/channels/${user_id}/stream`)
}

export async function newLiveChannel(server: TestServer, stream: object = {}): Promise<NewChannel> {
  const channel = await newChannel(server)
  await goLive(server, channel.id, stream)
  return channel
}
