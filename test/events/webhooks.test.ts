/** Messages to webhooks, as a receiver sees them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newClient, tokenOf } from '../operations/helix/callers.ts'
import { goLive, goOffline, newChannel } from '../operations/helix/channels.ts'
import { newOrganization } from '../operations/helix/drops-organization.ts'
import { retryWhileUnavailable } from '../support/operation.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { Receiver, SECRET, settled, statusOf, subscribe, subscribed, until } from './receiver.ts'

const RETRY_SECONDS = 0.2
/** The server reads it before each retry, so a test may change it. */
const RETRIES = [RETRY_SECONDS, RETRY_SECONDS]

onEachStore('webhooks', { config: { eventRetries: RETRIES } }, server => {
  let receiver: Receiver
  beforeAll(() => {
    receiver = new Receiver()
  })
  afterAll(() => receiver.stop())
  const fresh = () => {
    receiver.received.length = 0
    receiver.answer = () => undefined
  }
  const online = (broadcaster_user_id: string, callback = receiver.url()) =>
    subscribed(server(), { type: 'stream.online', condition: { broadcaster_user_id }, callback })

  describe('verification', () => {
    test('a callback that returns the challenge enables the subscription', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const condition = { broadcaster_user_id: user }
      const id = await subscribe(server(), { type: 'stream.online', condition, callback: receiver.url() })
      await until(async () => (await statusOf(server(), id)) === 'enabled')
      const [message, ...others] = receiver.received
      expect(others).toEqual([])
      expect([message?.kind, message?.retry]).toEqual(['webhook_callback_verification', '0'])
      expect(Object.keys(message?.body)).toEqual(['challenge', 'subscription'])
      expect(message?.body.challenge).toMatch(/^[A-Za-z0-9]{32}$/)
      expect(message?.body.subscription).toEqual({
        id,
        status: 'webhook_callback_verification_pending',
        type: 'stream.online',
        version: '1',
        condition,
        created_at: expect.any(String),
        transport: { method: 'webhook', callback: receiver.url() },
        cost: 0,
      })
      expect(receiver.forged).toEqual([])
    })

    const wrong: [string, (challenge: string) => Response][] = [
      ['another text', () => new Response('challenge')],
      ['the challenge with a line break', challenge => new Response(`${challenge}\n`)],
      ['the challenge and status 400', challenge => new Response(challenge, { status: 400 })],
      ['a redirect', () => Response.redirect(receiver.url('/elsewhere'), 302)],
      ['the challenge within 9 KiB', challenge => new Response(challenge.padEnd(9 * 1024))],
    ]
    test('a wrong answer is asked for again once, and then the subscription has failed', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const condition = { broadcaster_user_id: user }
      receiver.answer = ({ path, body }) => wrong[Number(path.slice(1))]?.[1](body.challenge)
      const ids = new Map<string, string>()
      for (const [index, [answer]] of wrong.entries()) {
        const callback = receiver.url(`/${index}`)
        ids.set(answer, await subscribe(server(), { type: 'stream.online', condition, callback }))
      }
      for (const [index, [answer]] of wrong.entries()) {
        const id = ids.get(answer) ?? ''
        await until(async () => (await statusOf(server(), id)) === 'webhook_callback_verification_failed')
        const [first, second, ...others] = receiver.of('webhook_callback_verification', `/${index}`)
        expect([answer, others]).toEqual([answer, []])
        expect([first?.retry, second?.retry]).toEqual(['0', '1'])
        expect(first?.id).toBe(second?.id as string)
        expect(first?.body.challenge).not.toBe(second?.body.challenge)
      }
      expect(receiver.received.filter(({ path }) => path === '/elsewhere')).toEqual([])
    })

    test('a callback that succeeds the second time enables the subscription', async () => {
      fresh()
      receiver.answer = ({ retry }) => (retry === '0' ? new Response(null, { status: 503 }) : undefined)
      const { id: user } = await newChannel(server())
      await online(user)
      expect(receiver.received.length).toBe(2)
    })
  })

  describe('notifications', () => {
    test('every header and the body of a message', async () => {
      fresh()
      const { id: user, login } = await newChannel(server())
      const id = await online(user, receiver.url('/a?b=c'))
      const live = await goLive(server(), user)
      await until(() => receiver.notifications().length > 0)
      const [message] = receiver.notifications()
      const of = (name: string) => message?.headers.get(name)
      expect(of('content-type')).toBe('application/json')
      expect(of('twitch-eventsub-message-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(of('twitch-eventsub-message-retry')).toBe('0')
      expect(of('twitch-eventsub-message-type')).toBe('notification')
      expect(of('twitch-eventsub-subscription-type')).toBe('stream.online')
      expect(of('twitch-eventsub-subscription-version')).toBe('1')
      expect(of('twitch-eventsub-message-signature')).toMatch(/^sha256=[0-9a-f]{64}$/)
      expect(of('accept-encoding')).toBe('identity')
      expect(Math.abs(Date.parse(message?.timestamp ?? '') - (message?.at ?? 0))).toBeLessThan(5000)
      expect(receiver.forged).toEqual([])
      expect(message?.body).toEqual({
        subscription: expect.objectContaining({ id, status: 'enabled', cost: 0 }),
        event: {
          id: live.id,
          broadcaster_user_id: user,
          broadcaster_user_login: login,
          broadcaster_user_name: expect.any(String),
          type: 'live',
          started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        },
      })
      expect(message?.text).not.toContain(SECRET)
    })

    test('a retry has the same id and body, a fresh timestamp and signature, and is counted', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      await online(user)
      receiver.answer = ({ kind, retry }) =>
        kind === 'notification' && retry !== '2' ? new Response('no', { status: 500 }) : undefined
      await goLive(server(), user)
      await until(() => receiver.notifications().length === 3)
      const all = receiver.notifications()
      expect(all.map(each => each.retry)).toEqual(['0', '1', '2'])
      expect(new Set(all.map(each => each.id)).size).toBe(1)
      expect(new Set(all.map(each => each.text)).size).toBe(1)
      expect(new Set(all.map(each => each.timestamp)).size).toBe(3)
      for (const [index, each] of all.entries()) {
        expect(Math.abs(Date.parse(each.timestamp) - each.at)).toBeLessThan(5000)
        const before = all[index - 1]
        if (before !== undefined) expect(each.at - before.at).toBeGreaterThanOrEqual(1000 * RETRY_SECONDS)
      }
      expect(receiver.forged).toEqual([])
    })

    test('after the last retry the subscription ends with one revocation, sent once', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const id = await online(user)
      receiver.answer = () => new Response(null, { status: 500 })
      await goLive(server(), user)
      await until(() => receiver.of('revocation').length > 0)
      await settled(server(), id)
      expect(receiver.notifications().map(each => each.retry)).toEqual(['0', '1', '2'])
      const [revocation, ...others] = receiver.of('revocation')
      expect(others).toEqual([])
      expect(revocation?.body).toEqual({
        subscription: expect.objectContaining({ id, status: 'notification_failures_exceeded' }),
      })
      expect(await statusOf(server(), id)).toBe('notification_failures_exceeded')
      await goOffline(server(), user)
      receiver.received.length = 0
      await goLive(server(), user)
      await settled(server(), id)
      expect(receiver.received).toEqual([])
    })

    test('410 ends the subscription at once, without a revocation', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const id = await online(user)
      receiver.answer = () => new Response(null, { status: 410 })
      await goLive(server(), user)
      await until(async () => (await statusOf(server(), id)) === 'notification_failures_exceeded')
      await settled(server(), id)
      expect(receiver.received.map(each => each.kind)).toEqual([
        'webhook_callback_verification',
        'notification',
      ])
    })

    test('a redirect is a failure and is not followed', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      await online(user)
      receiver.answer = ({ retry }) =>
        retry === '0' ? Response.redirect(receiver.url('/elsewhere'), 307) : undefined
      await goLive(server(), user)
      await until(() => receiver.notifications().length === 2)
      expect(receiver.notifications('/elsewhere')).toEqual([])
    })

    test('online and offline of a broadcaster arrive in order, and other messages overtake', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const { id: other } = await newChannel(server())
      await online(user)
      await online(other)
      const condition = { broadcaster_user_id: user }
      await subscribed(server(), { type: 'stream.offline', condition, callback: receiver.url() })
      await subscribed(server(), {
        type: 'channel.update',
        version: '2',
        condition,
        callback: receiver.url(),
      })
      const isOnline = (body: { event: { id?: string; broadcaster_user_id: string } }) =>
        body.event.id !== undefined && body.event.broadcaster_user_id === user
      receiver.answer = ({ kind, retry, body }) =>
        kind === 'notification' && retry === '0' && isOnline(body)
          ? new Response(null, { status: 503 })
          : undefined
      // Time enough for the other messages, on a busy machine too.
      RETRIES[0] = 1
      await goLive(server(), user)
      await goOffline(server(), user)
      await goLive(server(), user)
      await server().control('PATCH', `/channels/${user}`, { title: 'Another title' })
      await goLive(server(), other)
      await until(() => receiver.notifications().some(({ retry }) => retry === '1'))
      RETRIES[0] = RETRY_SECONDS
      await until(() => receiver.notifications().length >= 7)
      const types = receiver.notifications().map(({ body, retry }) => {
        const whose = body.event.broadcaster_user_id === user ? 'user' : 'other'
        return `${whose} ${body.subscription.type} ${retry}`
      })
      expect(types.filter(each => /^user stream/.test(each))).toEqual([
        'user stream.online 0',
        'user stream.online 1',
        'user stream.offline 0',
        'user stream.online 0',
        'user stream.online 1',
      ])
      const retried = types.indexOf('user stream.online 1')
      expect(types.indexOf('user channel.update 0')).toBeLessThan(retried)
      expect(types.indexOf('other stream.online 0')).toBeLessThan(retried)
    })

    test('a deleted subscription gets nothing more', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const id = await online(user)
      receiver.answer = () => new Response(null, { status: 500 })
      await goLive(server(), user)
      await until(() => receiver.notifications().length === 1)
      const path = '/helix/eventsub/subscriptions'
      const token = server().world.client.app_token
      expect((await server().call({ method: 'DELETE', path, query: { id }, token })).status).toBe(204)
      await settled(server(), id)
      expect(receiver.notifications().length).toBe(1)
      expect(receiver.of('revocation')).toEqual([])
    })

    test('a subscription about a user who is deleted ends with one revocation, which is retried', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const id = await online(user, receiver.url('/gone'))
      receiver.answer = ({ retry }) => (retry === '0' ? new Response(null, { status: 500 }) : undefined)
      await server().control('DELETE', `/users/${user}`)
      await until(() => receiver.of('revocation', '/gone').length === 2)
      const [first, second] = receiver.of('revocation', '/gone')
      expect(first?.body).toEqual({ subscription: expect.objectContaining({ id, status: 'user_removed' }) })
      expect([second?.id, second?.text, second?.retry]).toEqual([first?.id, first?.text, '1'])
      expect(receiver.notifications('/gone')).toEqual([])
    })

    test('the email address is sent only while the user grants the application to read it', async () => {
      fresh()
      const [{ id: user }] = await server().control('POST', '/users', {
        login: `with_email_${server().engine}`,
        email: 'first@example.org',
      })
      const client_id = await newClient(server(), null)
      const token = await tokenOf(server(), { client_id })
      const wanted = { type: 'user.update', condition: { user_id: user }, callback: receiver.url(), token }
      await subscribed(server(), wanted)
      const change = async (email: string) => {
        const before = receiver.notifications().length
        await server().control('PUT', `/users/${user}`, { login: `with_email_${server().engine}`, email })
        await until(() => receiver.notifications().length > before)
        const { event } = receiver.notifications().at(-1)?.body ?? {}
        return [event.email, event.email_verified]
      }
      expect(await change('second@example.org')).toEqual(['', false])
      const [granted] = await server().control('POST', '/tokens', {
        client_id,
        user_id: user,
        scopes: ['user:read:email'],
      })
      expect(await change('third@example.org')).toEqual(['third@example.org', true])
      await server().control('DELETE', '/tokens', { token: granted.refresh_token })
      await tokenOf(server(), { client_id, user_id: user, scopes: ['chat:read'] })
      expect(await change('fourth@example.org')).toEqual(['', false])
    })

    test('a change that is rolled back after its event was written sends nothing', async () => {
      fresh()
      const { id: user } = await newChannel(server())
      const id = await online(user)
      receiver.received.length = 0
      const before = await countEvents()
      await breakFeed()
      const answer = await server().call({
        method: 'PUT',
        path: `/control/channels/${user}/stream`,
        body: {},
        token: server().world.operator_token,
      })
      await mendFeed()
      expect(answer.status).toBeGreaterThanOrEqual(500)
      expect(await countEvents()).toBe(before)
      expect(receiver.received).toEqual([])
      const live = await goLive(server(), user)
      await settled(server(), id)
      expect(receiver.received.map(({ body }) => body.event.id)).toEqual([live.id])
    })
  })

  const countEvents = async () => Number((await server().execute('select count(*) as n from events'))[0].n)
  /** A command writes to the feed last. */
  const breakFeed = async () => {
    if (server().engine === 'sqlite')
      return server().execute(
        `create trigger broken before insert on feed begin select raise(abort, 'broken'); end`,
      )
    await server().execute(
      `create function broken() returns trigger language plpgsql as 'begin raise exception ''broken''; end'`,
    )
    return server().execute(
      'create trigger broken before insert on feed for each row execute function broken()',
    )
  }
  const mendFeed = () =>
    server().execute(server().engine === 'sqlite' ? 'drop trigger broken' : 'drop function broken() cascade')

  describe('batches', () => {
    test('5,000 grants arrive once each, in requests of at most 250,000 bytes', async () => {
      fresh()
      const organization = await newOrganization(server())
      const condition = { organization_id: organization.id }
      const wanted = { type: 'drop.entitlement.grant', condition, callback: receiver.url('/drops') }
      await subscribed(server(), { ...wanted, token: organization.token })
      const { benefit_id, game_id } = organization
      const grants = Array.from({ length: 5000 }, () => {
        return { id: crypto.randomUUID(), user_id: server().world.viewer.id, benefit_id, game_id }
      })
      const granted = grants.map(({ id }) => id)
      // A grant with a known id changes nothing, so it can be repeated on a busy machine.
      for (let from = 0; from < grants.length; from += 250) {
        const body = { grants: grants.slice(from, from + 250) }
        const token = server().world.operator_token
        const grant = () => server().call({ method: 'POST', path: '/control/entitlements', body, token })
        expect((await retryWhileUnavailable(grant)).status).toBe(200)
      }
      const eventsOf = () => receiver.notifications('/drops').flatMap(({ body }) => body.events)
      await until(() => eventsOf().length >= granted.length)
      const sent = eventsOf()
      expect(sent.map(({ data }) => data.entitlement_id).sort()).toEqual(granted.sort())
      expect(new Set(sent.map(({ id }) => id)).size).toBe(5000)
      const requests = receiver.notifications('/drops')
      for (const { text } of requests) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(250_000)
      expect(requests.length).toBeLessThan(200)
      expect(requests[0]?.body).toEqual({
        subscription: expect.objectContaining({ type: 'drop.entitlement.grant', status: 'enabled' }),
        events: expect.any(Array),
      })
      expect(receiver.forged).toEqual([])
    })

    test('a retry has the same events, and new ones are sent in another message', async () => {
      fresh()
      const organization = await newOrganization(server())
      const condition = { organization_id: organization.id }
      const wanted = { type: 'drop.entitlement.grant', condition, callback: receiver.url('/retried-drops') }
      await subscribed(server(), { ...wanted, token: organization.token })
      receiver.answer = ({ retry }) => (retry === '0' ? new Response(null, { status: 500 }) : undefined)
      const user = server().world.viewer.id
      await organization.grant([user, user, user])
      await until(() => receiver.notifications('/retried-drops').length === 1)
      await organization.grant([user, user])
      await until(() => receiver.notifications('/retried-drops').length === 4)
      const byMessage = Map.groupBy(receiver.notifications('/retried-drops'), each => each.id)
      expect([...byMessage.values()].map(tries => new Set(tries.map(each => each.text)).size)).toEqual([1, 1])
      expect([...byMessage.values()].map(([first]) => first?.body.events.length)).toEqual([3, 2])
    })

    test('a message that is sent again has its events, and no new ones', async () => {
      fresh()
      const organization = await newOrganization(server())
      const condition = { organization_id: organization.id }
      const wanted = { type: 'drop.entitlement.grant', condition, callback: receiver.url('/resent-drops') }
      const id = await subscribed(server(), { ...wanted, token: organization.token })
      const user = server().world.viewer.id
      const pending = `subscription_id = '${id}' and due_at is not null`
      const isSettled = async () =>
        (await server().execute(`select 1 from event_deliveries where ${pending}`)).length === 0
      await organization.grant([user, user, user])
      await until(() => receiver.notifications('/resent-drops').length === 1)
      await until(isSettled)
      // As the control API does it, with a new event that is due at the same time.
      await server().execute(
        `update event_deliveries set status = 'pending', attempts = 0, finished_at = null, due_at = 1
         where subscription_id = '${id}' and kind = 'notification'`,
      )
      await organization.grant([user])
      await until(() => receiver.notifications('/resent-drops').length >= 3)
      await until(isSettled)
      const all = receiver.notifications('/resent-drops')
      expect(all.map(({ body }) => body.events.length).sort()).toEqual([1, 3, 3])
      const same = all.filter(each => each.id === all[0]?.id)
      expect([same.length, new Set(same.map(each => each.text)).size]).toEqual([2, 1])
    })
  })
})
