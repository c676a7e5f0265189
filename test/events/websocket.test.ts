import { describe, expect, test } from 'bun:test'
import { Networks } from '../../src/kit/networks.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { EventClient } from '../support/server/event-client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { subscribeSocket, until } from './receiver.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

onEachStore('the WebSocket for events', {}, current => {
  const open = (search = '', options = {}) => EventClient.connect(`${current().url}/ws${search}`, options)
  const setTitle = (server: TestServer, title: string) =>
    server.control('PATCH', `/channels/${server.world.broadcaster.id}`, { title })
  const statusOf = async (server: TestServer, id: string): Promise<string> => {
    const [row] = await server.execute(`select status from event_subscriptions where id = '${id}'`)
    return row?.status
  }

  describe('GET /ws', () => {
    test('is welcomed with a session', async () => {
      const client = await open()
      const welcome = await client.message('session_welcome')
      expect(welcome).toEqual({
        metadata: {
          message_id: expect.stringMatching(UUID),
          message_type: 'session_welcome',
          message_timestamp: expect.stringMatching(ISO),
        },
        payload: {
          session: {
            id: expect.stringMatching(/^[A-Za-z0-9]{27}$/),
            status: 'connected',
            connected_at: expect.stringMatching(ISO),
            keepalive_timeout_seconds: 10,
            reconnect_url: null,
            recovery_url: null,
          },
        },
      })
      client.close()
    })
    test('takes the keepalive from the URL, and refuses one that is out of range with 400', async () => {
      const client = await open('?keepalive_timeout_seconds=600')
      const { payload } = await client.message('session_welcome')
      expect(payload.session.keepalive_timeout_seconds).toBe(600)
      client.close()
      for (const value of ['9', '601', '010', '1e2', '-10', 'x'])
        expect([value, (await open(`?keepalive_timeout_seconds=${value}`)).status]).toEqual([value, 400])
      const twice = await open('?keepalive_timeout_seconds=10&keepalive_timeout_seconds=20')
      expect(twice.status).toBe(400)
    })
    test('without an upgrade is answered with 426', async () => {
      const answer = await current().call({ path: '/ws' })
      expect([answer.status, answer.problem, answer.headers.get('upgrade')]).toEqual([
        426,
        'upgrade_required',
        'websocket',
      ])
    })
    test('is closed with 4001 when the client sends something, and its subscriptions end', async () => {
      const server = current()
      const client = await open()
      const { body } = await subscribeSocket(server, await client.sessionId())
      client.sendText('hello')
      await client.until(() => client.ended)
      expect(client.closed).toEqual({ code: 4001, reason: 'client sent inbound traffic' })
      await until(
        async () => (await statusOf(server, body.data[0].id)) === 'websocket_received_inbound_traffic',
      )
    })
  })

  describe('a notification', () => {
    test('arrives once, with its subscription and event', async () => {
      const server = current()
      const client = await open()
      const session_id = await client.sessionId()
      const { status, body } = await subscribeSocket(server, session_id)
      expect(status).toBe(202)
      expect(body.data[0]).toMatchObject({
        status: 'enabled',
        cost: 0,
        transport: { method: 'websocket', session_id, connected_at: expect.stringMatching(ISO) },
      })
      await setTitle(server, 'One')
      const message = await client.message('notification')
      const { id, login } = server.world.broadcaster
      expect(message.metadata).toMatchObject({
        subscription_type: 'channel.update',
        subscription_version: '2',
      })
      expect(message.payload.subscription).toEqual(body.data[0])
      expect(message.payload.event).toMatchObject({
        broadcaster_user_id: id,
        broadcaster_user_login: login,
        title: 'One',
      })
      await setTitle(server, 'Two')
      await client.message('notification', 1)
      await until(async () => {
        const rows = await server.execute(
          `select status from event_deliveries where subscription_id = '${body.data[0].id}'`,
        )
        return rows.length === 2 && rows.every(row => row.status === 'delivered')
      })
      expect(client.messages.filter(each => each.metadata.message_type === 'notification')).toHaveLength(2)
      client.close()
      await until(async () => (await statusOf(server, body.data[0].id)) === 'websocket_disconnected')
    })
    test('keeps the order of online and offline', async () => {
      const server = current()
      const client = await open()
      const session_id = await client.sessionId()
      const { id } = server.world.offline
      for (const type of ['stream.online', 'stream.offline'])
        await subscribeSocket(server, session_id, {
          type,
          version: '1',
          condition: { broadcaster_user_id: id },
        })
      for (let round = 0; round < 5; round++) {
        await server.control('PUT', `/channels/${id}/stream`, {})
        await server.control('DELETE', `/channels/${id}/stream`)
      }
      await client.message('notification', 9)
      const types = client.messages
        .filter(each => each.metadata.message_type === 'notification')
        .map(each => each.metadata.subscription_type)
      expect(types).toEqual(Array.from({ length: 5 }, () => ['stream.online', 'stream.offline']).flat())
      client.close()
    })
  })

  test('a connection that breaks ends its subscriptions', async () => {
    const server = current()
    const client = await open()
    const { body } = await subscribeSocket(server, await client.sessionId())
    client.destroy()
    await until(async () => (await statusOf(server, body.data[0].id)) === 'websocket_network_error')
    expect(
      await server.execute(`select id from event_sockets where id = '${await client.sessionId()}'`),
    ).toEqual([])
  })
  test('a reconnect with a false token is closed with 4007', async () => {
    const client = await open('?reconnect=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')
    await client.until(() => client.ended)
    expect(client.closed).toEqual({ code: 4007, reason: 'invalid reconnect' })
  })
  test('a user that is deleted revokes the subscriptions about it', async () => {
    const server = current()
    const [user] = await server.control('POST', '/users', { login: `gone_${Date.now() % 1e9}` })
    const client = await open()
    const condition = { broadcaster_user_id: user.id }
    const { body } = await subscribeSocket(server, await client.sessionId(), { condition })
    expect(body.data[0].cost).toBe(1)
    await server.control('DELETE', `/users/${user.id}`)
    const { payload, metadata } = await client.message('revocation')
    expect(metadata.subscription_type).toBe('channel.update')
    expect(payload).toEqual({ subscription: { ...body.data[0], status: 'user_removed' } })
    client.close()
  })
})

test('GET /ws is answered with 503 when a network has its share of the places, and to all when none is left', async () => {
  const trustedProxies = new Networks()
  trustedProxies.add('127.0.0.1', 32)
  const server = await startTestServer('sqlite', { config: { eventSockets: 10, trustedProxies } })
  try {
    const open = (forwardedFor: string) => EventClient.connect(`${server.url}/ws`, { forwardedFor })
    const first = await open('203.0.113.1')
    await first.sessionId()
    await (await open('203.0.113.1')).sessionId()
    expect((await open('203.0.113.1')).status).toBe(503)
    for (let n = 2; n < 10; n++) expect((await open(`203.0.113.${n}`)).status).toBe(101)
    expect((await open('203.0.113.10')).status).toBe(503)
    first.close()
    // The place is free once the server has seen the close.
    await until(async () => (await open('203.0.113.10')).status === 101)
    expect((await open('203.0.113.11')).status).toBe(503)
  } finally {
    await server.stop()
  }
})
