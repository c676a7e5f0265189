/** Subscriptions end with what authorized them, on both transports, and changes of games reach those of channels. */
import { expect, test } from 'bun:test'
import { hashToken } from '../../src/auth/tokens.ts'
import { newChannel } from '../operations/helix/channels.ts'
import { newClient, subscribe, webhook } from '../operations/helix/subscriptions.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { EventClient } from '../support/server/event-client.ts'
import { Receiver, settled, statusOf, subscribed, until } from './receiver.ts'

onEachStore('authorization of subscriptions', {}, current => {
  test('those of an editor who is removed end, about that channel only', async () => {
    const server = current()
    const [channel, other, editor] = [
      await newChannel(server),
      await newChannel(server),
      await newChannel(server),
    ]
    for (const { id } of [channel, other])
      await server.control('PUT', `/channels/${id}/editors/${editor.id}`, {})
    const client = await newClient(server)
    const scopes = ['user:read:broadcast', 'moderator:read:followers']
    const token = await client.userToken(editor.id, scopes)
    const socket = await EventClient.connect(`${server.url}/ws`)
    const byWebsocket = { method: 'websocket', session_id: await socket.sessionId() }
    const markersOf = (broadcaster_user_id: string) => ({
      type: 'strand.marker.create',
      condition: { broadcaster_user_id },
    })
    const follows = {
      type: 'channel.follow',
      version: '2',
      condition: { broadcaster_user_id: channel.id, moderator_user_id: editor.id },
    }
    const add = async (wanted: object, transport: object, by: string) => {
      const answer = await subscribe(server, { ...wanted, transport }, by)
      expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
      return answer.body.data[0].id as string
    }
    const ending = [
      await add(markersOf(channel.id), byWebsocket, token),
      await add(follows, byWebsocket, token),
      await add(markersOf(channel.id), webhook(), client.app_token),
    ]
    const kept = await add(markersOf(other.id), byWebsocket, token)
    await server.control('DELETE', `/channels/${channel.id}/editors/${editor.id}`)
    for (const id of ending) expect(await statusOf(server, id)).toBe('authorization_revoked')
    expect(await statusOf(server, kept)).toBe('enabled')
    await socket.message('revocation', 1)
    expect(
      (await subscribe(server, { ...markersOf(channel.id), transport: byWebsocket }, token)).status,
    ).toBe(403)
    socket.close()
  })

  test('a webhook continues as long as the broadcaster or an editor authorizes it', async () => {
    const server = current()
    const [channel, editor] = [await newChannel(server), await newChannel(server)]
    await server.control('PUT', `/channels/${channel.id}/editors/${editor.id}`, {})
    const client = await newClient(server)
    /** Gives the client an authorization, and returns what takes it back. */
    const authorize = async (user_id: string) => {
      const [{ refresh_token }] = await server.control('POST', '/tokens', {
        client_id: client.id,
        user_id,
        scopes: ['user:read:broadcast'],
      })
      return () => server.control('DELETE', '/tokens', { token: refresh_token })
    }
    const withdrawEditor = await authorize(editor.id)
    const wanted = { type: 'strand.marker.create', condition: { broadcaster_user_id: channel.id } }
    const id = (await subscribe(server, wanted, client.app_token)).body.data[0].id
    const withdrawBroadcaster = await authorize(channel.id)
    await withdrawEditor()
    expect(await statusOf(server, id)).not.toBe('authorization_revoked')
    await authorize(editor.id)
    await withdrawBroadcaster()
    expect(await statusOf(server, id)).not.toBe('authorization_revoked')
    await server.control('DELETE', `/channels/${channel.id}/editors/${editor.id}`)
    expect(await statusOf(server, id)).toBe('authorization_revoked')
    // It was never verified, so that its callback is not notified.
    const kinds = await server.execute(`select kind from event_deliveries where subscription_id = '${id}'`)
    expect(kinds).toEqual([{ kind: 'webhook_callback_verification' }])
  })

  test('those whose authorization expires end with the expired token', async () => {
    const server = current()
    const { id: user_id } = await newChannel(server)
    const client = await newClient(server)
    const { store, clock } = server.strand.services
    const scopes = ['user:read:broadcast']
    const [{ access_token, refresh_token }] = await server.control('POST', '/tokens', {
      client_id: client.id,
      user_id,
      scopes,
    })
    const wanted = { type: 'strand.marker.create', condition: { broadcaster_user_id: user_id } }
    const id = (await subscribe(server, wanted, client.app_token)).body.data[0].id
    const now = clock.now()
    await store.commands.sweep({ now, settled: now })
    expect(await statusOf(server, id)).not.toBe('authorization_revoked')
    for (const token of [access_token, refresh_token])
      await server.execute(
        `update tokens set expires_at = '2020-01-01T00:00:00.000Z' where hash = '${hashToken(token)}'`,
      )
    await store.commands.sweep({ now, settled: now })
    expect(await statusOf(server, id)).toBe('authorization_revoked')
  })

  test('those of a user who is deleted end, whatever they are about', async () => {
    const server = current()
    const [channel, viewer] = [await newChannel(server), await newChannel(server)]
    const socket = await EventClient.connect(`${server.url}/ws`)
    const transport = { method: 'websocket', session_id: await socket.sessionId() }
    const condition = { broadcaster_user_id: channel.id }
    const id = (await subscribe(server, { condition, transport }, viewer.token)).body.data[0].id
    await server.control('DELETE', `/users/${viewer.id}`)
    expect(await statusOf(server, id)).toBe('user_removed')
    await socket.message('revocation')
    socket.close()
  })

  test('those about an organization end when the client moves to another', async () => {
    const server = current()
    const client = await newClient(server)
    const organization_id = server.world.organization.id
    const wanted = (type: string) => ({ type, condition: { organization_id }, is_batching_enabled: true })
    const ids: string[] = []
    for (const type of ['drop.entitlement.grant', 'strand.entitlement.update'])
      ids.push((await subscribe(server, wanted(type), client.app_token)).body.data[0].id)
    const kept = (await subscribe(server, {}, client.app_token)).body.data[0].id
    await server.control('PATCH', `/clients/${client.id}`, { name: 'Renamed' })
    for (const id of ids) expect(await statusOf(server, id)).not.toBe('authorization_revoked')
    await server.control('PATCH', `/clients/${client.id}`, { organization_id: null })
    for (const id of ids) expect(await statusOf(server, id)).toBe('authorization_revoked')
    expect(await statusOf(server, kept)).not.toBe('authorization_revoked')
    const again = await subscribe(server, wanted('strand.entitlement.update'), client.app_token)
    expect(again.status).toBe(403)
  })

  test('a game that is renamed or deleted changes the category of its channels', async () => {
    const server = current()
    const game = String(Math.floor(1e9 + Math.random() * 1e9))
    await server.control('PUT', `/games/${game}`, { name: 'Kelp' })
    const { id } = await newChannel(server)
    await server.control('PATCH', `/channels/${id}`, { game_id: game, title: 'Dive' })
    const receiver = new Receiver()
    const condition = { broadcaster_user_id: id }
    const subscription = await subscribed(server, {
      type: 'channel.update',
      version: '2',
      condition,
      callback: receiver.url(),
    })
    const categories = () =>
      receiver
        .notifications()
        .map(({ body: { event } }) => [event.title, event.category_id, event.category_name])
    await server.control('PUT', `/games/${game}`, { igdb_id: '7' })
    await server.control('PUT', `/games/${game}`, { name: 'Kelp Forest' })
    await until(() => categories().length === 1)
    await server.control('DELETE', `/games/${game}`)
    await until(() => categories().length === 2)
    await settled(server, subscription)
    expect(categories()).toEqual([
      ['Dive', game, 'Kelp Forest'],
      ['Dive', '', ''],
    ])
    await receiver.stop()
  })

  test('a client gets an event when a user authorizes it, disconnects it, or is deleted (D-223)', async () => {
    const server = current()
    const [client, other] = [await newClient(server), await newClient(server)]
    const [user, gone] = [await newChannel(server), await newChannel(server)]
    const types = ['user.authorization.grant', 'user.authorization.revoke']
    for (const type of types) {
      const wanted = { type, transport: webhook() }
      const foreign = await subscribe(
        server,
        { ...wanted, condition: { client_id: other.id } },
        client.app_token,
      )
      expect(foreign.status).toBe(403)
      const answer = await subscribe(
        server,
        { ...wanted, condition: { client_id: client.id } },
        client.app_token,
      )
      await server.execute(
        `update event_subscriptions set status = 'enabled' where id = '${answer.body.data[0].id}'`,
      )
    }
    const { commands } = server.strand.services.store
    const now = Date.now()
    const connect = (user_id: string, client_id: string, hash: string) => {
      const token = { kind: 'user', hash, client_id, user_id, scopes: [], family: hash } as const
      return commands.grantToken({
        token: { ...token, expires_at: new Date(now + 3_600_000).toISOString() },
        now: new Date(now).toISOString(),
      })
    }
    // Consent to more is no second authorization, and other clients are not concerned.
    for (const hash of ['one', 'two']) await connect(user.id, client.id, `${client.id} ${hash}`)
    await connect(user.id, other.id, `${other.id} one`)
    await connect(gone.id, client.id, `${client.id} gone`)
    for (let count = 0; count < 2; count++)
      await commands.disconnect({ user_id: user.id, client_id: client.id, now })
    await commands.deleteUser({ id: gone.id, now })
    const rows = await server.execute(
      `select type, body from events where type like 'user.authorization.%' and subject = '${client.id}' order by seq`,
    )
    const event = ({ id, login }: typeof user) => ({
      client_id: client.id,
      user_id: id,
      user_login: login,
      user_name: login,
    })
    expect(rows.map(({ type, body }: { type: string; body: string }) => [type, JSON.parse(body)])).toEqual([
      [types[0], event(user)],
      [types[0], event(gone)],
      [types[1], event(user)],
      [types[1], event(gone)],
    ])
  })
})
