import { afterAll, expect } from 'bun:test'
import {
  deleteEventSubscription,
  listDeliveries,
  listEventSubscriptions,
  listEvents,
  replayEvents,
  resendDelivery,
} from '../../../src/contract/control/events.ts'
import { Receiver, statusOf, subscribed, until } from '../../events/receiver.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { EventClient } from '../../support/server/event-client.ts'
import type { Answer, TestServer } from '../../support/server.ts'
import { goLive, goOffline, newChannel } from '../helix/channels.ts'
import { newClient, subscribe } from '../helix/subscriptions.ts'
import { asOperator, expectEmpty, idsOf, naming, newUser, UNKNOWN_UUID, walk } from './operator.ts'

const EVENTS = '/control/events'
const DELIVERIES = '/control/deliveries'
const SUBSCRIPTIONS = '/control/event-subscriptions'
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const LONG_AGO = '2020-01-01T00:00:00Z'

const receiver = new Receiver()
afterAll(() => receiver.stop())

let paths = 0

/** A subscription by webhook to the streams of a new channel; `path` is where its messages arrive. */
async function subscription(server: TestServer, type = 'stream.online') {
  const { id: user_id } = await newChannel(server)
  const path = `/control-${++paths}`
  const condition = { broadcaster_user_id: user_id }
  const id = await subscribed(server, { type, condition, callback: receiver.url(path) })
  return { id, user_id, path }
}

/** The same, with events that were delivered. */
async function delivered(server: TestServer, count = 1) {
  const made = await subscription(server)
  for (let times = 0; times < count; times++) {
    await goLive(server, made.user_id)
    await goOffline(server, made.user_id)
  }
  await until(async () => {
    const rows = await walk(server, DELIVERIES, { subscription_id: made.id, status: 'delivered' })
    return rows.length === count + 1
  })
  return made
}

const resend = (server: TestServer, id: string) =>
  send(server, resendDelivery, asOperator(server, { path: `${DELIVERIES}/${id}/resend` }))
const replay = (server: TestServer, body: object): Promise<Answer> =>
  send(server, replayEvents, asOperator(server, { body }))
const remove = (server: TestServer, id: string) =>
  send(server, deleteEventSubscription, asOperator(server, { path: `${SUBSCRIPTIONS}/${id}` }))
const auditOf = (server: TestServer, subject: string) => walk(server, '/control/audit', { subject })

/** The notification that a subscription got first. */
async function firstNotification(server: TestServer, subscription_id: string) {
  const rows = await walk(server, DELIVERIES, { subscription_id })
  return rows.filter(row => row.kind === 'notification').at(-1)
}

describeOperation(listEvents, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('the events that a subscription matched, newest first, as subscribers get them', async server => {
    const { user_id, path } = await delivered(server, 3)
    const { id: unwatched } = await newUser(server)
    await goLive(server, unwatched)
    const rows = await walk(server, EVENTS, { subject: user_id })
    expect(rows).toHaveLength(3)
    expect(rows.map(row => row.event)).toEqual(
      receiver
        .notifications(path)
        .map(message => message.body.event)
        .reverse(),
    )
    for (const row of rows)
      expect(row).toEqual({
        id: expect.any(String),
        type: 'stream.online',
        version: '1',
        subject: user_id,
        occurred_at: expect.stringMatching(ISO),
        event: expect.objectContaining({ broadcaster_user_id: user_id }),
      })
    expect(idsOf(rows)).toEqual(idsOf(rows).toSorted().reverse())
    expect(await walk(server, EVENTS, { subject: unwatched })).toEqual([])
  })

  ok('by type and subject, page by page', async server => {
    const { user_id } = await delivered(server, 3)
    const of = (query: object) => walk(server, EVENTS, { subject: user_id, ...query })
    expect(await of({ type: 'stream.online', first: 1 })).toEqual(await of({}))
    expect(await of({ type: 'stream.offline' })).toEqual([])
    const ofType = await walk(server, EVENTS, { type: 'stream.online', first: 2 })
    expect(ofType.length).toBeGreaterThanOrEqual(3)
    expect(new Set(ofType.map(row => row.type))).toEqual(new Set(['stream.online']))
    expect(await walk(server, EVENTS, { type: 'no.such.type' })).toEqual([])
  })

  fails('malformed_parameter', 'when first is 0', server =>
    send(server, listEvents, asOperator(server, { query: { first: 0 } })),
  )
})

describeOperation(listDeliveries, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('every message with its attempts and the last answer, newest first', async server => {
    const { id, user_id } = await delivered(server)
    const [event] = await walk(server, EVENTS, { subject: user_id })
    const [notification, verification, ...others] = await walk(server, DELIVERIES, { subscription_id: id })
    expect(others).toEqual([])
    const shared = {
      subscription_id: id,
      type: 'stream.online',
      status: 'delivered',
      attempts: 1,
      created_at: expect.stringMatching(ISO),
      due_at: null,
      finished_at: expect.stringMatching(ISO),
      answer: null,
      milliseconds: expect.any(Number),
    }
    expect(notification).toEqual({
      ...shared,
      id: expect.any(String),
      message_id: notification.id,
      kind: 'notification',
      event_id: event.id,
      answer_status: 204,
    })
    expect(verification).toEqual({
      ...shared,
      id: expect.any(String),
      message_id: verification.id,
      kind: 'webhook_callback_verification',
      event_id: null,
      answer_status: 200,
    })
  })

  ok('by subscription, event and status, and by all of them', async server => {
    const { id, user_id } = await delivered(server, 2)
    const [event] = await walk(server, EVENTS, { subject: user_id })
    const all = await walk(server, DELIVERIES, { subscription_id: id, first: 1 })
    expect(all).toHaveLength(3)
    const [newest] = all
    expect(await walk(server, DELIVERIES, { event_id: event.id })).toEqual([newest])
    const whole = { event_id: event.id, subscription_id: id, status: 'delivered' }
    expect(await walk(server, DELIVERIES, whole)).toEqual([newest])
    expect(await walk(server, DELIVERIES, { ...whole, status: 'failed' })).toEqual([])
    expect(await walk(server, DELIVERIES, { ...whole, subscription_id: UNKNOWN_UUID })).toEqual([])
    expect(await walk(server, DELIVERIES, { event_id: UNKNOWN_UUID })).toEqual([])
    expect(idsOf(await walk(server, DELIVERIES, { status: 'delivered', first: 3 }))).toEqual(
      expect.arrayContaining(idsOf(all)),
    )
  })

  ok('a failed attempt has its answer, and when it is due again', async server => {
    const { id, user_id, path } = await subscription(server)
    receiver.answer = message => (message.path === path ? new Response('no', { status: 503 }) : undefined)
    await goLive(server, user_id)
    await until(async () => (await firstNotification(server, id))?.answer_status === 503)
    expect(await firstNotification(server, id)).toMatchObject({
      status: 'pending',
      attempts: 1,
      due_at: expect.stringMatching(ISO),
      finished_at: null,
      answer: expect.any(String),
    })
    receiver.answer = () => undefined
  })

  fails('malformed_parameter', 'with an unknown status', server =>
    send(server, listDeliveries, asOperator(server, { query: { status: 'lost' } })),
  )
})

describeOperation(
  resendDelivery,
  {
    valid: async server => {
      const { id } = await delivered(server)
      const row = await firstNotification(server, id)
      return asOperator(server, { path: `${DELIVERIES}/${row.id}/resend` })
    },
  },
  ({ ok, fails }) => {
    ok('the message is sent again with the same id, and is in the audit log', async server => {
      const { id, path } = await delivered(server)
      const row = await firstNotification(server, id)
      const { body } = await resend(server, row.id)
      expect(body.data).toEqual([
        { ...row, status: 'pending', attempts: 0, due_at: expect.stringMatching(ISO), finished_at: null },
      ])
      await until(() => receiver.notifications(path).length === 2)
      const [first, second] = receiver.notifications(path)
      expect([second?.id, second?.text]).toEqual([first?.id, first?.text])
      expect(second?.id).toBe(row.message_id)
      await until(async () => (await firstNotification(server, id)).status === 'delivered')
      expect(await firstNotification(server, id)).toMatchObject({ id: row.id, attempts: 1 })
      const [audited] = await auditOf(server, `event-delivery/${row.id}`)
      expect(audited).toMatchObject({ operation: 'ResendDelivery', after: { resent: true } })
    })

    fails('not_found', 'when there is no such message', server =>
      naming(UNKNOWN_UUID, resend(server, UNKNOWN_UUID)),
    )
    fails('subscription_ended', 'when the subscription has ended, and nothing is sent', async server => {
      const { id, user_id, path } = await delivered(server)
      await server.control('DELETE', `/users/${user_id}`)
      expect(await statusOf(server, id)).toBe('user_removed')
      const row = await firstNotification(server, id)
      const answer = await resend(server, row.id)
      expect((await firstNotification(server, id)).status).toBe('delivered')
      expect(receiver.notifications(path)).toHaveLength(1)
      return answer
    })
  },
)

describeOperation(
  replayEvents,
  { valid: server => asOperator(server, { body: { since: '2999-01-01T00:00:00Z' } }) },
  ({ ok, fails }) => {
    ok('notifications of a subscription since a time are sent again with the same ids', async server => {
      const { id: subscription_id, path } = await delivered(server, 3)
      const rows = await walk(server, DELIVERIES, { subscription_id })
      const [, second] = rows.filter(row => row.kind === 'notification').reverse()
      const sent = idsOf(receiver.notifications(path))
      const some = await replay(server, { since: second.created_at, subscription_id })
      expect(some.body).toEqual({ data: [{ messages: 2 }] })
      await until(() => receiver.notifications(path).length === 5)
      expect(idsOf(receiver.notifications(path)).slice(3).toSorted()).toEqual(sent.slice(1).toSorted())
      await until(
        async () =>
          (await walk(server, DELIVERIES, { subscription_id, status: 'delivered' })).length === rows.length,
      )
      const all = await replay(server, { since: LONG_AGO, subscription_id })
      expect(all.body).toEqual({ data: [{ messages: 3 }] })
      expect(receiver.of('webhook_callback_verification', path)).toHaveLength(1)
      const [audited] = await auditOf(server, 'events')
      expect(audited).toMatchObject({ operation: 'ReplayEvents', after: { replayed: 3 } })
    })

    ok('of all subscriptions that are enabled, and of none that has ended', async server => {
      const [one, other, ended] = [await delivered(server), await delivered(server), await delivered(server)]
      await server.control('DELETE', `/users/${ended.user_id}`)
      const { body } = await replay(server, { since: LONG_AGO })
      expect(body.data[0].messages).toBeGreaterThanOrEqual(2)
      for (const { path } of [one, other]) await until(() => receiver.notifications(path).length === 2)
      expect(receiver.notifications(ended.path)).toHaveLength(1)
      expect((await firstNotification(server, ended.id)).status).toBe('delivered')
    })

    ok('more than one command can do at once', async server => {
      const { id: subscription_id, user_id } = await delivered(server)
      const { seq } = (await server.execute(`select max(seq) as seq from events`))[0]
      await server.execute(
        `insert into event_deliveries
           (id, message, kind, subscription_id, event_seq, target, status, attempts, created_at, finished_at)
         with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)
         select 'many-' || '${user_id}-' || cast(n as text), 'many-' || '${user_id}-' || cast(n as text),
           'notification', '${subscription_id}', ${seq}, 'nowhere', 'delivered', 1,
           '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z' from numbers`,
      )
      const { body } = await replay(server, { since: LONG_AGO, subscription_id })
      expect(body).toEqual({ data: [{ messages: 2501 }] })
      await remove(server, subscription_id)
    })

    ok('nothing since a time in the future, and the audit log has no row of it', async server => {
      const before = await auditOf(server, 'events')
      const { body } = await replay(server, { since: '2999-01-01T00:00:00Z' })
      expect(body).toEqual({ data: [{ messages: 0 }] })
      expect(await auditOf(server, 'events')).toEqual(before)
    })

    fails('not_found', 'when there is no such subscription', server =>
      naming(UNKNOWN_UUID, replay(server, { since: LONG_AGO, subscription_id: UNKNOWN_UUID })),
    )
    fails('refused_reference', 'when the day does not exist', server =>
      replay(server, { since: '2026-02-30T12:00:00Z' }),
    )
    fails('malformed_parameter', 'when the time is a date alone', server =>
      replay(server, { since: '2026-03-01' }),
    )
  },
)

describeOperation(listEventSubscriptions, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('of all applications, the oldest first, without secrets', async server => {
    const client = await newClient(server)
    const condition = { broadcaster_user_id: server.world.broadcaster.id }
    const { body: webhook } = await subscribe(server, { condition }, client.app_token)
    const socket = await EventClient.connect(`${server.url}/ws`)
    const transport = { method: 'websocket', session_id: await socket.sessionId() }
    const token = await client.userToken(server.world.viewer.id, [])
    const { body: websocket } = await subscribe(server, { transport, condition }, token)
    const rows = await walk(server, SUBSCRIPTIONS, { client_id: client.id })
    expect(rows).toEqual([webhook, websocket].map(({ data: [row] }) => ({ ...row, client_id: client.id })))
    const all = await walk(server, SUBSCRIPTIONS, { first: 2 })
    expect(idsOf(all)).toEqual(expect.arrayContaining(idsOf(rows)))
    const times = all.map(row => row.created_at)
    expect(times).toEqual(times.toSorted())
    expect(JSON.stringify(all)).not.toContain('secret')
    socket.close()
  })

  ok('by client, type and status, and by all of them', async server => {
    const client = await newClient(server)
    const made: string[] = []
    for (const type of ['stream.online', 'stream.offline', 'stream.online']) {
      const { id } = await newUser(server)
      const { body } = await subscribe(
        server,
        { type, condition: { broadcaster_user_id: id } },
        client.app_token,
      )
      made.push(body.data[0].id)
    }
    await server.execute(`update event_subscriptions set status = 'enabled' where id = '${made[2]}'`)
    const idsBy = async (query: object) =>
      idsOf(await walk(server, SUBSCRIPTIONS, { client_id: client.id, ...query }))
    expect(await idsBy({ first: 1 })).toEqual(made)
    expect(await idsBy({ type: 'stream.online' })).toEqual([made[0], made[2]] as string[])
    expect(await idsBy({ status: 'enabled' })).toEqual([made[2]] as string[])
    expect(await idsBy({ status: 'enabled', type: 'stream.offline' })).toEqual([])
    const ofType = await walk(server, SUBSCRIPTIONS, { type: 'stream.offline', first: 1 })
    expect(idsOf(ofType)).toContain(made[1] as string)
    expect(idsOf(ofType)).not.toContain(made[0] as string)
    expect(idsOf(await walk(server, SUBSCRIPTIONS, { status: 'enabled' }))).toContain(made[2] as string)
    expect(await walk(server, SUBSCRIPTIONS, { client_id: 'nothing' })).toEqual([])
  })

  fails('malformed_parameter', 'with an unknown status', server =>
    send(server, listEventSubscriptions, asOperator(server, { query: { status: 'asleep' } })),
  )
})

describeOperation(
  deleteEventSubscription,
  {
    valid: async server =>
      asOperator(server, { path: `${SUBSCRIPTIONS}/${(await subscription(server)).id}` }),
  },
  ({ ok, fails }) => {
    ok('one of any application, with its messages, and nothing more is sent', async server => {
      const { id, user_id, path } = await delivered(server)
      expectEmpty(await remove(server, id))
      await goLive(server, user_id)
      expect(await walk(server, DELIVERIES, { subscription_id: id })).toEqual([])
      expect(idsOf(await walk(server, SUBSCRIPTIONS, { first: 100 }))).not.toContain(id)
      // Another message that was written later has arrived: this one would have, too.
      await delivered(server)
      expect(receiver.notifications(path)).toHaveLength(1)
      const [audited] = await auditOf(server, `event-subscription/${id}`)
      expect(audited).toMatchObject({ operation: 'DeleteEventSubscription', before: { id }, after: null })
    })

    fails('not_found', 'when there is none', server => naming(UNKNOWN_UUID, remove(server, UNKNOWN_UUID)))
    fails('not_found', 'when it was deleted before', async server => {
      const { id } = await subscription(server)
      await remove(server, id)
      return naming(id, remove(server, id))
    })
  },
)
