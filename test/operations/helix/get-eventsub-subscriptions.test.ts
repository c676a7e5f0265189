import { expect } from 'bun:test'
import { getEventSubSubscriptions } from '../../../src/contract/helix/get-eventsub-subscriptions.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { EventClient } from '../../support/server/event-client.ts'
import type { TestServer } from '../../support/server.ts'
import { type Row, walk } from './page-rules.ts'
import { newClient, subscribe } from './subscriptions.ts'

const list = (server: TestServer, token: string, query: Record<string, string> = {}) =>
  send(server, getEventSubSubscriptions, { token, query })
const idsOf = (rows: Row[]) => rows.map(row => row.id)

const valid = ({ world }: TestServer) => ({ token: world.client.app_token })

describeOperation(getEventSubSubscriptions, { valid }, ({ ok, fails }) => {
  ok('the oldest first, of this client only, with totals; filters pick from them', async server => {
    const client = await newClient(server)
    const token = client.app_token
    expect((await list(server, token)).body).toEqual({
      data: [],
      pagination: {},
      total: 0,
      total_cost: 0,
      max_total_cost: 10_000,
    })
    const { broadcaster, viewer } = server.world
    const made: Row[] = []
    for (const [type, user] of [
      ['stream.online', broadcaster],
      ['stream.offline', broadcaster],
      ['stream.online', viewer],
    ] as const) {
      const condition = { broadcaster_user_id: user.id }
      made.push((await subscribe(server, { type, condition }, token)).body.data[0])
    }
    await server.execute(`update event_subscriptions set status = 'enabled' where id = '${made[1].id}'`)
    const all = await list(server, token)
    expect(all.body).toEqual({
      data: [made[0], { ...made[1], status: 'enabled' }, made[2]],
      pagination: {},
      total: 3,
      total_cost: 3,
      max_total_cost: 10_000,
    })
    const picked = async (query: Record<string, string>) => {
      const { body } = await list(server, token, query)
      expect(body.total).toBe(3)
      return idsOf(body.data)
    }
    expect(await picked({ type: 'stream.online' })).toEqual([made[0].id, made[2].id])
    expect(await picked({ status: 'enabled' })).toEqual([made[1].id])
    expect(await picked({ user_id: viewer.id })).toEqual([made[2].id])
    expect(await picked({ subscription_id: made[2].id })).toEqual([made[2].id])
    expect(await picked({ subscription_id: 'x' })).toEqual([])
    expect(idsOf(await walk(server, getEventSubSubscriptions, { token }, () => 1))).toEqual(idsOf(made))
  })

  ok('with a user token, those by WebSocket of this user', async server => {
    const client = await newClient(server)
    const { broadcaster, viewer } = server.world
    const token = await client.userToken(viewer.id, [])
    const other = await client.userToken(broadcaster.id, [])
    const socket = await EventClient.connect(`${server.url}/ws`)
    const transport = { method: 'websocket', session_id: await socket.sessionId() }
    const { body } = await subscribe(server, { transport }, token)
    await subscribe(server, {}, client.app_token)
    expect((await list(server, token)).body).toEqual({
      data: body.data,
      pagination: {},
      total: 1,
      total_cost: 0,
      max_total_cost: 10,
    })
    expect((await list(server, other)).body.data).toEqual([])
    expect((await list(server, client.app_token)).body.total).toBe(1)
    socket.close()
  })

  fails('several_filters', 'with two filters', server =>
    list(server, server.world.client.app_token, { type: 'stream.online', status: 'enabled' }),
  )
  fails('malformed_parameter', 'with an unknown status', server =>
    list(server, server.world.client.app_token, { status: 'asleep' }),
  )
})
