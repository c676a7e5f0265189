/** Rows of messages that another session keeps locked delay only these messages. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { EventClient } from '../support/server/event-client.ts'
import { engines, startTestServer, type TestServer } from '../support/server.ts'
import { Receiver, settled, subscribed, subscribeSocket, until } from './receiver.ts'

/** The opcode of a pong. */
const PONG = 10

describe.skipIf(!engines.includes('postgres'))('rows of messages locked by another session', () => {
  let server: TestServer
  let session: SQL
  const receivers: Receiver[] = []
  beforeAll(async () => {
    server = await startTestServer('postgres')
    session = new SQL(server.databaseUrl as string, { max: 1 })
  })
  afterAll(async () => {
    await session.close()
    await server.stop()
    for (const receiver of receivers) await receiver.stop()
  })

  const setTitle = (title: string) =>
    server.control('PATCH', `/channels/${server.world.broadcaster.id}`, { title })
  const pendingOf = (id: string) =>
    server.execute(
      `select status from event_deliveries where subscription_id = '${id}' and due_at is not null`,
    )

  test('delay no other webhooks, and are settled when they are released', async () => {
    const [held, other] = [new Receiver(), new Receiver()]
    receivers.push(held, other)
    const wanted = {
      type: 'channel.update',
      version: '2',
      condition: { broadcaster_user_id: server.world.broadcaster.id },
    }
    const [id] = [
      await subscribed(server, { ...wanted, callback: held.url() }),
      await subscribed(server, { ...wanted, callback: other.url() }),
    ]
    const answer = Promise.withResolvers<undefined>()
    held.answer = () => answer.promise
    await setTitle('Held')
    await until(() => held.notifications().length === 1 && other.notifications().length === 1)
    await session.begin(async tx => {
      await tx.unsafe(
        `select 1 from event_deliveries where subscription_id = '${id}' and due_at is not null for update`,
      )
      answer.resolve(undefined)
      held.answer = () => undefined
      for (let n = 2; n <= 20; n++) {
        await setTitle(`Title ${n}`)
        await until(() => other.notifications().length === n)
      }
      expect(await pendingOf(id)).not.toEqual([])
    })
    await settled(server, id)
    expect(held.notifications()).toHaveLength(20)
  }, 60_000)

  test('delay no other WebSockets, and are settled when they are released', async () => {
    const url = `${server.url}/ws`
    const [held, other] = [
      await EventClient.connect(url, { answersPings: false }),
      await EventClient.connect(url),
    ]
    const [id] = [await held.sessionId(), await other.sessionId()]
    const { body } = await subscribeSocket(server, id)
    await subscribeSocket(server, await other.sessionId())
    const subscription = body.data[0].id
    await setTitle('Sent')
    await Promise.all([held.message('notification'), other.message('notification')])
    await held.until(() => held.pings === 1)
    await session.begin(async tx => {
      await tx.unsafe(`select 1 from event_deliveries where subscription_id = '${subscription}' for update`)
      held.send(PONG, '1')
      for (let n = 1; n <= 20; n++) {
        await setTitle(`Another ${n}`)
        await other.message('notification', n)
      }
      expect(await pendingOf(subscription)).not.toEqual([])
    })
    await until(async () => {
      held.send(PONG, String(held.pings))
      return (await pendingOf(subscription)).length === 0
    })
    expect(held.messages.filter(each => each.metadata.message_type === 'notification')).toHaveLength(21)
    held.close()
    other.close()
  }, 60_000)

  test('a session that is locked gets its messages when it is released, and others at once', async () => {
    const url = `${server.url}/ws`
    const [held, other] = [await EventClient.connect(url), await EventClient.connect(url)]
    const id = await held.sessionId()
    await subscribeSocket(server, id)
    await subscribeSocket(server, await other.sessionId())
    await session.begin(async tx => {
      await tx.unsafe(`select 1 from event_sockets where id = '${id}' for update`)
      await setTitle('While it is locked')
      await other.message('notification')
      expect(held.messages.filter(each => each.metadata.message_type === 'notification')).toEqual([])
    })
    await held.message('notification')
    held.close()
    other.close()
  }, 60_000)
})
