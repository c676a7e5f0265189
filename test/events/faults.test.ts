/** Faults of messages, as subscribers see them. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { goLive, goOffline, newChannel } from '../operations/helix/channels.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { EventClient } from '../support/server/event-client.ts'
import { Receiver, subscribed, until } from './receiver.ts'

onEachStore('faults of messages', { config: { eventRetries: [0.2, 0.2] } }, server => {
  let receiver: Receiver
  beforeEach(() => {
    receiver = new Receiver()
  })
  afterEach(async () => {
    await server().control('DELETE', '/faults')
    await receiver.stop()
  })
  const plan = (fault: object) => server().control('POST', '/faults', fault)
  const pending = () => server().control('GET', '/faults')
  const online = (broadcaster_user_id: string) =>
    subscribed(server(), {
      type: 'stream.online',
      condition: { broadcaster_user_id },
      callback: receiver.url(),
    })
  const notifications = () => receiver.notifications()

  test('webhook_twice: the same message, header by header, and the next one once', async () => {
    const { id } = await newChannel(server())
    await plan({ outcome: 'webhook_twice' })
    await online(id)
    expect(await pending()).toEqual([{ outcome: 'webhook_twice', times: 1 }])
    await goLive(server(), id)
    await until(() => notifications().length === 2)
    const [first, second] = notifications()
    expect([second?.id, second?.retry, second?.timestamp, second?.text]).toEqual([
      first?.id,
      '0',
      first?.timestamp,
      first?.text,
    ])
    expect(receiver.forged).toEqual([])
    expect(await pending()).toEqual([])
    await goOffline(server(), id)
    await goLive(server(), id)
    await until(() => notifications().length === 3)
    expect(notifications()[2]?.id).not.toBe(first?.id as string)
  })

  test('webhook_bad_signature: one attempt is signed wrongly, its retry correctly', async () => {
    const { id } = await newChannel(server())
    const subscription_id = await online(id)
    receiver.answer = message =>
      receiver.forged.includes(message) ? new Response(null, { status: 403 }) : undefined
    await plan({ outcome: 'webhook_bad_signature', where: { type: 'stream.offline' } })
    await plan({ outcome: 'webhook_bad_signature', where: { subscription_id } })
    await goLive(server(), id)
    await until(() => notifications().length === 2)
    const [first, second] = notifications()
    expect([first?.id, first?.retry]).toEqual([second?.id, '0'])
    expect(second?.retry).toBe('1')
    expect(receiver.forged.map(({ retry }) => retry)).toEqual(['0'])
    expect(first?.headers.get('twitch-eventsub-message-signature')).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(await pending()).toMatchObject([{ where: { type: 'stream.offline' }, times: 1 }])
  })

  test('socket_silent: the connection stays open, without messages and pings; others are not affected', async () => {
    const { id } = await newChannel(server())
    const silent = await EventClient.connect(`${server().url}/ws`)
    const other = await EventClient.connect(`${server().url}/ws`)
    const session_id = await silent.sessionId()
    const subscribe = async (session: string) => {
      const answer = await server().call({
        method: 'POST',
        path: '/helix/eventsub/subscriptions',
        token: server().world.broadcaster.token,
        body: {
          type: 'stream.online',
          version: '1',
          condition: { broadcaster_user_id: id },
          transport: { method: 'websocket', session_id: session },
        },
      })
      expect(answer.status).toBe(202)
    }
    await subscribe(session_id)
    await subscribe(await other.sessionId())
    await plan({ outcome: 'socket_silent', skip: 1, where: { session_id } })
    await goLive(server(), id)
    await silent.message('notification')
    await goOffline(server(), id)
    await goLive(server(), id)
    await other.message('notification', 1)
    await until(async () => (await pending()).length === 0)
    await goOffline(server(), id)
    await goLive(server(), id)
    await other.message('notification', 2)
    const { pings } = silent
    expect(silent.messages.map(each => each.metadata.message_type)).toEqual([
      'session_welcome',
      'notification',
    ])
    expect([silent.ended, pings]).toEqual([false, 1])
    silent.close()
    other.close()
  })
})
