/** Event subscriptions, made for one proof. */
import type { Answer, TestServer } from '../../support/server.ts'

const WEBHOOK = {
  method: 'webhook',
  callback: 'https://example.com/events',
  secret: 'a secret of 21 chars',
}

let made = 0

/** A webhook for a type of event; the callback is another one each time. */
export const webhook = () => ({ ...WEBHOOK, callback: `https://example.com/events/${++made}` })

export const wanted = (server: TestServer, changes: object = {}) => ({
  type: 'stream.online',
  version: '1',
  condition: { broadcaster_user_id: server.world.broadcaster.id },
  transport: webhook(),
  ...changes,
})

export const subscribe = (
  server: TestServer,
  changes: object = {},
  token = server.world.client.app_token,
): Promise<Answer> =>
  server.call({
    method: 'POST',
    path: '/helix/eventsub/subscriptions',
    token,
    body: wanted(server, changes),
  })

/** A client of the organization of the world, with no subscriptions. */
export async function newClient(
  server: TestServer,
): Promise<{ id: string; app_token: string; userToken(user_id: string, scopes: string[]): Promise<string> }> {
  const [client] = await server.control('POST', '/clients', {
    name: `Events ${++made}`,
    organization_id: server.world.organization.id,
  })
  const tokenOf = async (body: object): Promise<string> =>
    (await server.control('POST', '/tokens', { client_id: client.id, ...body }))[0].access_token
  return {
    id: client.id,
    app_token: await tokenOf({}),
    userToken: (user_id, scopes) => tokenOf({ user_id, scopes }),
  }
}
