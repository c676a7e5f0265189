import { expect } from 'bun:test'
import { deleteEventSubSubscription } from '../../../src/contract/helix/delete-eventsub-subscription.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import { EventClient } from '../../support/server/event-client.ts'
import type { TestServer } from '../../support/server.ts'
import { newClient, subscribe } from './subscriptions.ts'

const remove = (server: TestServer, token: string, id: string) =>
  send(server, deleteEventSubSubscription, { token, query: { id } })

const valid = async (server: TestServer) => {
  const { body } = await subscribe(server)
  return { token: server.world.client.app_token, query: { id: body.data[0].id } }
}

describeOperation(deleteEventSubSubscription, { valid }, ({ ok, fails }) => {
  ok('its pending messages are gone with it, and it can be made again', async server => {
    const client = await newClient(server)
    const transport = { method: 'webhook', callback: 'https://example.com/again', secret: 'a'.repeat(10) }
    const { body } = await subscribe(server, { transport }, client.app_token)
    const { id } = body.data[0]
    const answer = await remove(server, client.app_token, id)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await server.execute(`select id from event_deliveries where subscription_id = '${id}'`)).toEqual(
      [],
    )
    expectProblem(deleteEventSubSubscription, await remove(server, client.app_token, id), 'not_found')
    expect((await subscribe(server, { transport }, client.app_token)).status).toBe(202)
  })

  ok('a user deletes those of the same user, and the application all of its users', async server => {
    const client = await newClient(server)
    const { broadcaster, viewer } = server.world
    const own = await client.userToken(broadcaster.id, [])
    const others = await client.userToken(viewer.id, [])
    const socket = await EventClient.connect(`${server.url}/ws`)
    const transport = { method: 'websocket', session_id: await socket.sessionId() }
    const listen = async (type: string) =>
      (await subscribe(server, { type, transport }, own)).body.data[0].id as string
    const [online, offline] = [await listen('stream.online'), await listen('stream.offline')]
    expectProblem(deleteEventSubSubscription, await remove(server, others, online), 'not_found')
    expect((await remove(server, own, online)).status).toBe(204)
    expect((await remove(server, client.app_token, offline)).status).toBe(204)
    socket.close()
  })

  fails('not_found', 'a webhook of the application, with the token of a user', async server => {
    const { body } = await subscribe(server)
    return remove(server, server.world.broadcaster.token, body.data[0].id)
  })
  fails('not_found', 'a subscription of another client', async server => {
    const { body } = await subscribe(server)
    return remove(server, (await newClient(server)).app_token, body.data[0].id)
  })
  fails('missing_parameter', 'without an id', server =>
    send(server, deleteEventSubSubscription, { token: server.world.client.app_token }),
  )
})
