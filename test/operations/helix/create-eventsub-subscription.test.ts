import { expect } from 'bun:test'
import { EVENT_TYPES } from '../../../src/contract/events/event-types.ts'
import { createEventSubSubscription } from '../../../src/contract/helix/create-eventsub-subscription.ts'
import { SCOPES } from '../../../src/contract/scope.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import { EventClient } from '../../support/server/event-client.ts'
import type { Ask, TestServer } from '../../support/server.ts'
import { newChannel } from './channels.ts'
import { newClient, subscribe, wanted, webhook } from './subscriptions.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const malformed = (name: string, why: string) => `The parameter "${name}" was malformed: ${why}`

/** What Go clients send: all fields of all conditions, with the empty value of their language where they are unused. */
const CONDITION_FIELDS = [
  'broadcaster_user_id',
  'from_broadcaster_user_id',
  'moderator_user_id',
  'to_broadcaster_user_id',
  'reward_id',
  'client_id',
  'extension_client_id',
  'user_id',
]
const unusedFields = (value: '' | null) => Object.fromEntries(CONDITION_FIELDS.map(name => [name, value]))

const valid = (server: TestServer): Ask => ({ token: server.world.client.app_token, body: wanted(server) })

const rows = async (server: TestServer) =>
  Number((await server.execute('select count(*) as rows from event_subscriptions'))[0].rows)

/** Must fail with this message and store nothing. */
async function refused(server: TestServer, changes: object, message: string, status = 400, token?: string) {
  const before = await rows(server)
  const answer = await subscribe(server, changes, token)
  expect({ changes, status: answer.status, message: answer.body.message }).toEqual({
    changes,
    status,
    message,
  })
  expect(await rows(server)).toBe(before)
}

describeOperation(createEventSubSubscription, { valid }, ({ ok, fails }) => {
  ok('the subscription waits for its verification, and the secret is not in the answer', async server => {
    const client = await newClient(server)
    const transport = webhook()
    const answer = await subscribe(server, { transport }, client.app_token)
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({
      data: [
        {
          id: expect.stringMatching(UUID),
          status: 'webhook_callback_verification_pending',
          type: 'stream.online',
          version: '1',
          condition: { broadcaster_user_id: server.world.broadcaster.id },
          created_at: expect.stringMatching(ISO),
          transport: { method: 'webhook', callback: transport.callback },
          cost: 1,
        },
      ],
      total: 1,
      total_cost: 1,
      max_total_cost: 10_000,
    })
    expect(answer.text).not.toContain(transport.secret)
  })

  ok('at the root path too', async server => {
    const answer = await server.call({
      method: 'POST',
      path: '/eventsub/subscriptions',
      token: server.world.client.app_token,
      body: wanted(server),
    })
    expect(answer.status).toBe(202)
  })

  ok('costs nothing if the user has authorized the client, by a token or a consent', async server => {
    const client = await newClient(server)
    const user = await newChannel(server)
    const condition = { broadcaster_user_id: user.id }
    expect((await subscribe(server, { condition }, client.app_token)).body.total_cost).toBe(1)
    await client.userToken(user.id, [])
    const { body } = await subscribe(server, { condition, type: 'stream.offline' }, client.app_token)
    expect([body.data[0].cost, body.total, body.total_cost]).toEqual([0, 2, 1])
  })

  ok('ids in a condition may be numbers, and null fields of a transport count as absent', async server => {
    const condition = { broadcaster_user_id: Number(server.world.broadcaster.id) }
    const transport = { ...webhook(), session_id: null }
    const answer = await subscribe(server, { condition, transport })
    expect(answer.body.data[0].condition).toEqual({ broadcaster_user_id: server.world.broadcaster.id })
  })

  ok('empty and null fields that the type does not have count as absent, for every type', async server => {
    const { broadcaster, organization } = server.world
    const client = await newClient(server)
    await client.userToken(broadcaster.id, [...SCOPES])
    const known: Record<string, string> = {
      broadcaster_user_id: broadcaster.id,
      moderator_user_id: broadcaster.id,
      user_id: broadcaster.id,
      organization_id: organization.id,
      client_id: client.id,
    }
    for (const { type, version, condition: schema } of EVENT_TYPES) {
      const required = (schema.required ?? []) as string[]
      const condition = Object.fromEntries(required.map(name => [name, known[name]]))
      for (const unused of [unusedFields(''), unusedFields(null)]) {
        const changes = { type, version, condition: { ...unused, ...condition }, is_batching_enabled: true }
        const { status, body } = await subscribe(server, changes, client.app_token)
        expect([type, status, body.data?.[0].condition]).toEqual([type, 202, condition])
        const [stored] = await server.execute(
          `select condition from event_subscriptions where id = '${body.data[0].id}'`,
        )
        expect(JSON.parse(stored.condition)).toEqual(condition)
        for (const name of required)
          await refused(
            server,
            { ...changes, condition: { ...changes.condition, [name]: unused.reward_id } },
            `Missing required parameter "condition.${name}"`,
            400,
            client.app_token,
          )
      }
    }
  })

  ok('the same subscription is found again, with unused fields or without them', async server => {
    const { broadcaster } = server.world
    const transport = webhook()
    const condition = { broadcaster_user_id: broadcaster.id }
    const first = await subscribe(server, { transport, condition })
    const second = await subscribe(server, { transport, condition: { ...unusedFields(''), ...condition } })
    expect([second.status, second.body.id]).toEqual([409, first.body.data[0].id])
  })

  ok('drops of the organization of the client, batched, with optional filters', async server => {
    const { organization, game } = server.world
    const condition = { organization_id: organization.id, category_id: game.id, campaign_id: '' }
    const drops = { type: 'drop.entitlement.grant', condition, is_batching_enabled: true }
    const answer = await subscribe(server, drops)
    expect(answer.body.data[0].condition).toEqual({
      organization_id: organization.id,
      category_id: game.id,
    })
  })

  ok('follows, with the authorization of the broadcaster or an editor', async server => {
    const client = await newClient(server)
    const { broadcaster, editor } = server.world
    for (const moderator of [broadcaster, editor]) {
      const condition = { broadcaster_user_id: broadcaster.id, moderator_user_id: moderator.id }
      const follows = { type: 'channel.follow', version: '2', condition }
      await refused(
        server,
        follows,
        'subscription missing proper authorization: the broadcaster or an editor has to authorize the application with the scope moderator:read:followers',
        403,
        client.app_token,
      )
      await client.userToken(moderator.id, ['moderator:read:followers'])
      expect((await subscribe(server, follows, client.app_token)).status).toBe(202)
    }
  })

  ok('bad input stores nothing, and the message names the field', async server => {
    const { broadcaster, viewer, organization } = server.world
    const users = { broadcaster_user_id: broadcaster.id }
    await refused(
      server,
      { type: 'stream.up' },
      malformed(
        'type',
        'there is no event type "stream.up"; see Events in the reference for those that exist',
      ),
    )
    await refused(
      server,
      { type: 'channel.follow', version: '1' },
      malformed('version', 'channel.follow has the version 2, not "1"'),
    )
    await refused(server, { condition: {} }, 'Missing required parameter "condition.broadcaster_user_id"')
    await refused(
      server,
      { condition: { ...users, user_id: '1' } },
      malformed('condition.user_id', 'the condition of stream.online has broadcaster_user_id only'),
    )
    await refused(
      server,
      { condition: { broadcaster_user_id: ['1'] } },
      malformed('condition.broadcaster_user_id', 'the value must be a string of at most 100 characters'),
    )
    await refused(
      server,
      { condition: { broadcaster_user_id: '9'.repeat(19) } },
      malformed('condition.broadcaster_user_id', `there is no user with the id "${'9'.repeat(19)}"`),
    )
    const transports: [object, string][] = [
      [{ method: 'conduit' }, malformed('transport.method', 'the value must be webhook or websocket')],
      [{ method: 'webhook', secret: 'a'.repeat(10) }, 'Missing required parameter "transport.callback"'],
      [
        { method: 'webhook', callback: 'https://example.com' },
        'Missing required parameter "transport.secret"',
      ],
    ]
    for (const secret of ['a'.repeat(9), 'a'.repeat(101), `${'a'.repeat(10)}é`, `${'a'.repeat(10)}\n`])
      transports.push([
        { ...webhook(), secret },
        malformed('transport.secret', 'the value must be 10 to 100 printable ASCII characters'),
      ])
    for (const callback of [
      'example.com/x',
      'ftp://example.com/',
      'https://',
      'javascript:alert(1)',
      'https://example.com/a\nb',
      ' https://example.com/',
      '\u0001https://example.com/',
    ])
      transports.push([
        { ...webhook(), callback },
        malformed('transport.callback', 'the value must be an http or https URL'),
      ])
    transports.push([
      { ...webhook(), callback: 'https://me:pass@example.com/' },
      malformed('transport.callback', 'the value must not contain a user name or password'),
    ])
    transports.push([
      { ...webhook(), callback: 'https://example.com/#part' },
      malformed('transport.callback', 'the value must not have a fragment'),
    ])
    for (const [transport, message] of transports) await refused(server, { transport }, message)
    const drops = { type: 'drop.entitlement.grant', condition: { organization_id: organization.id } }
    await refused(
      server,
      drops,
      malformed('is_batching_enabled', 'the value must be true for drop.entitlement.grant'),
    )
    const token = viewer.token
    await refused(
      server,
      { ...drops, transport: { method: 'websocket', session_id: 'x' } },
      malformed('transport.method', 'drop.entitlement.grant can only be sent by webhook'),
      400,
      token,
    )
    await refused(
      server,
      { transport: { method: 'websocket', session_id: 'gone' } },
      malformed('transport.session_id', 'there is no such session, or it has ended'),
      400,
      token,
    )
  })

  ok('a WebSocket takes 300 subscriptions, and a user three WebSockets', async server => {
    const { broadcaster, client } = server.world
    const clients = await Promise.all([1, 2, 3, 4].map(() => EventClient.connect(`${server.url}/ws`)))
    const sessions = await Promise.all(clients.map(each => each.sessionId()))
    const on = (index: number, changes: object = {}) =>
      subscribe(
        server,
        { transport: { method: 'websocket', session_id: sessions[index] }, ...changes },
        broadcaster.token,
      )
    for (const index of [0, 1, 2]) expect((await on(index)).status).toBe(202)
    expectProblem(createEventSubSubscription, await on(3), 'too_many_subscriptions')
    // 299 more on the first, past the operation: they cost nothing.
    await server.execute(
      `insert into event_subscriptions (id, client_id, owner, type, version, condition, topic, status, cost, method,
         session_id, target, identity, created_at)
       select 'copy-' || u.id || '-' || e.id, '${client.id}', '${broadcaster.id}', 'stream.online', '1', '{}', 'x',
         'enabled', 0, 'websocket', '${sessions[0]}', 'x', 'copy-' || u.id || '-' || e.id, '2026-01-01T00:00:00.000Z'
       from users u, users e limit 299`,
    )
    expectProblem(
      createEventSubSubscription,
      await on(0, { type: 'stream.offline' }),
      'too_many_subscriptions',
    )
    expect((await on(1, { type: 'stream.offline' })).status).toBe(202)
    for (const each of clients) each.close()
  })

  fails('wrong_token_kind', 'a webhook with a user token', server =>
    subscribe(server, {}, server.world.broadcaster.token),
  )
  fails('wrong_token_kind', 'a WebSocket with an app token', server =>
    subscribe(server, { transport: { method: 'websocket', session_id: 'x' } }),
  )
  fails('missing_parameter', 'without a transport', server => subscribe(server, { transport: undefined }))
  fails('subscription_forbidden', 'drops of another organization', server =>
    subscribe(server, {
      type: 'drop.entitlement.grant',
      condition: { organization_id: server.world.other_organization.id },
      is_batching_enabled: true,
    }),
  )
  fails('subscription_forbidden', 'markers of a channel that has not authorized the client', async server =>
    subscribe(
      server,
      { type: 'strand.marker.create', condition: { broadcaster_user_id: server.world.viewer.id } },
      (await newClient(server)).app_token,
    ),
  )
  fails('subscription_exists', 'the same twice; the body has the id of the first', async server => {
    const { client, broadcaster } = server.world
    const body = wanted(server, { condition: { broadcaster_user_id: broadcaster.id } })
    const first = await send(server, createEventSubSubscription, { token: client.app_token, body })
    const second = await send(server, createEventSubSubscription, {
      token: client.app_token,
      body: { ...body, transport: { ...body.transport, secret: 'another secret' } },
    })
    expect(second.body.id).toBe(first.body.data[0].id)
    return second
  })
  fails('subscription_cost_exceeded', 'an eleventh subscription that costs by WebSocket', async server => {
    const client = await newClient(server)
    const token = await client.userToken(server.world.viewer.id, [])
    const socket = await EventClient.connect(`${server.url}/ws`)
    const transport = { method: 'websocket', session_id: await socket.sessionId() }
    const answers = []
    for (let made = 0; made < 11; made++) {
      const condition = { broadcaster_user_id: (await newChannel(server)).id }
      answers.push(await subscribe(server, { condition, transport }, token))
    }
    expect(answers.slice(0, 10).map(each => each.status)).toEqual(Array(10).fill(202))
    const answer = answers[10] as (typeof answers)[0]
    socket.close()
    return answer
  })
  fails(
    'too_many_subscriptions',
    'a 101st webhook without cost with the same type and condition',
    async server => {
      const { id, app_token, userToken } = await newClient(server)
      // The broadcaster has authorized the client, so none costs anything.
      await userToken(server.world.broadcaster.id, [])
      for (let count = 0; count < 100; count++)
        expect((await subscribe(server, {}, app_token)).body.data[0].cost).toBe(0)
      expect((await subscribe(server, { type: 'stream.offline' }, app_token)).status).toBe(202)
      const answer = await subscribe(server, {}, app_token)
      const kept = await server.execute(`select 1 from event_subscriptions where client_id = '${id}'`)
      expect(kept).toHaveLength(101)
      return answer
    },
  )
  fails('too_many_subscriptions', 'on a fourth WebSocket', async server => {
    const client = await newClient(server)
    const token = await client.userToken(server.world.viewer.id, [])
    const sockets = await Promise.all([1, 2, 3, 4].map(() => EventClient.connect(`${server.url}/ws`)))
    const answers = []
    for (const socket of sockets) {
      const transport = { method: 'websocket', session_id: await socket.sessionId() }
      const condition = { broadcaster_user_id: server.world.viewer.id }
      answers.push(await subscribe(server, { condition, transport }, token))
    }
    for (const socket of sockets) socket.close()
    return answers[3] as (typeof answers)[0]
  })
})
