import { afterAll, beforeAll, expect, test } from 'bun:test'
import { EventClient } from '../support/server/event-client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { subscribeSocket } from './receiver.ts'

/** What a WebSocket does after some time; on one store, because the times are those of the process. */
let server: TestServer
beforeAll(async () => {
  server = await startTestServer('sqlite', {})
})
afterAll(() => server.stop())

const open = (options = {}) => EventClient.connect(`${server.url}/ws`, options)

async function subscribe(client: EventClient): Promise<string> {
  const { body } = await subscribeSocket(server, await client.sessionId())
  return body.data[0].id
}

async function closesUnused(): Promise<void> {
  const client = await open()
  const start = performance.now()
  await client.until(() => client.ended)
  expect(client.closed).toEqual({ code: 4003, reason: 'connection unused' })
  expect(performance.now() - start).toBeGreaterThan(9000)
}

async function sendsKeepalives(): Promise<void> {
  const client = await open()
  await subscribe(client)
  const { metadata, payload } = await client.message('session_keepalive')
  expect(Object.keys(metadata)).toEqual(['message_id', 'message_type', 'message_timestamp'])
  expect(payload).toEqual({})
  client.close()
}

async function waitsForPongs(): Promise<void> {
  const client = await open({ answersPings: false })
  const id = await subscribe(client)
  const deliveries = () =>
    server.execute(`select status from event_deliveries where subscription_id = '${id}'`)
  await server.control('PATCH', `/channels/${server.world.broadcaster.id}`, { title: 'Unconfirmed' })
  await client.message('notification')
  expect(await deliveries()).toEqual([{ status: 'pending' }])
  await client.until(() => client.ended)
  expect(client.closed).toEqual({ code: 4002, reason: 'client failed ping-pong' })
  while ((await deliveries())[0]?.status === 'pending') await Bun.sleep(20)
  expect(await server.execute(`select status from event_subscriptions where id = '${id}'`)).toEqual([
    { status: 'websocket_failed_ping_pong' },
  ])
}

test('unused ones are closed with 4003, idle ones get keepalives, and without a pong nothing counts as delivered', async () => {
  await Promise.all([closesUnused(), sendsKeepalives(), waitsForPongs()])
})
