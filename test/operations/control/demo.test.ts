import { expect, test } from 'bun:test'
import {
  advanceClock,
  clearFaults,
  listFaults,
  planFault,
  readClock,
  resetWorld,
} from '../../../src/contract/control/demo.ts'
import { operations } from '../../../src/contract/index.ts'
import { describeOperation, retryWhileUnavailable, send } from '../../support/operation.ts'
import { engines, startTestServer, type TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, isGoodToken, naming, newUser } from './operator.ts'

const advance = (server: TestServer, advance_seconds: unknown) =>
  send(server, advanceClock, asOperator(server, { body: { advance_seconds } }))
const plan = (server: TestServer, body: object) => send(server, planFault, asOperator(server, { body }))
const clear = (server: TestServer) => send(server, clearFaults, asOperator(server))
const streams = (server: TestServer) => server.call({ path: '/helix/streams' })

describeOperation(
  advanceClock,
  { valid: server => asOperator(server, { body: { advance_seconds: 60 } }) },
  ({ ok, fails }) => {
    ok('moves the clock forward by so much and tells the time', async server => {
      const [before, after] = [await advance(server, 1), await advance(server, 3600)]
      const moved = Date.parse(after.body.data[0].now) - Date.parse(before.body.data[0].now)
      expect(moved).toBeWithin(3_600_000, 3_660_000)
      expect(after.body.data[0].now).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })

    ok('tokens age with it', async server => {
      const [{ access_token }] = await server.control('POST', '/tokens', {
        client_id: server.world.client.id,
        expires_in: 1000,
      })
      await advance(server, 900)
      expect(await isGoodToken(server, access_token)).toBe(true)
      await advance(server, 101)
      expect(await isGoodToken(server, access_token)).toBe(false)
    })

    ok('what is made now carries the new time', async server => {
      const { now } = (await advance(server, 86_400)).body.data[0]
      expect((await newUser(server)).created_at >= now).toBe(true)
    })

    ok('stops it, moves it while it stands, and lets it go on from there', async server => {
      const pull = (body: object) => send(server, advanceClock, asOperator(server, { body }))
      const [{ now, running }] = (await pull({ running: false })).body.data
      expect(running).toBe(false)
      const [later] = (await pull({ advance_seconds: 60 })).body.data
      expect(Date.parse(later.now) - Date.parse(now)).toBe(60_000)
      expect((await send(server, readClock, asOperator(server))).body.data).toEqual([later])
      const [going] = (await pull({ running: true })).body.data
      expect(going.running).toBe(true)
      expect(going.now >= later.now).toBe(true)
    })

    fails('none_given', 'when nothing is asked for', server =>
      send(server, advanceClock, asOperator(server, { body: {} })),
    )
    for (const seconds of [0, -1, 1.5, '60', 315_360_001]) {
      fails('malformed_parameter', `when advance_seconds is ${JSON.stringify(seconds)}`, server =>
        advance(server, seconds),
      )
    }
  },
)

describeOperation(readClock, { valid: server => asOperator(server), server: {} }, ({ ok }) => {
  ok('tells the time and that it goes on', async server => {
    const [face] = (await send(server, readClock, asOperator(server))).body.data
    expect(face.running).toBe(true)
    expect(Math.abs(Date.parse(face.now) - Date.now())).toBeLessThan(60_000)
  })
})

describeOperation(resetWorld, { valid: server => asOperator(server) }, ({ ok }) => {
  const reset = (server: TestServer) => send(server, resetWorld, asOperator(server))
  const entitlements = async (server: TestServer) =>
    (
      await server.call({
        path: '/helix/entitlements/drops',
        query: { first: 100 },
        token: server.world.client.app_token,
      })
    ).body.data.map(({ id, fulfillment_status }: Record<string, string>) => [id, fulfillment_status])

  ok('what was made is gone, and what was changed or deleted is as it was', async server => {
    const { broadcaster, client, offline, viewer } = server.world
    const before = await entitlements(server)
    const [first] = before
    const live = (await streams(server)).body.data.map((stream: { id: string }) => stream.id)
    const made = await newUser(server)
    await server.control('PUT', `/channels/${made.id}/stream`, { viewer_count: 999_999 })
    await server.control('DELETE', `/channels/${broadcaster.id}/stream`)
    await server.control('DELETE', `/users/${offline.id}`)
    await server.control('DELETE', '/tokens', { token: viewer.token })
    await server.call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: client.app_token,
      body: {
        entitlement_ids: [first[0]],
        fulfillment_status: first[1] === 'CLAIMED' ? 'FULFILLED' : 'CLAIMED',
      },
    })
    await plan(server, { operation: 'GetStreams', outcome: 'unavailable', times: 9 })

    expectEmpty(await reset(server))

    expect((await streams(server)).body.data.map((stream: { id: string }) => stream.id)).toEqual(live)
    expect(await entitlements(server)).toEqual(before)
    expect((await server.call(asOperator(server, { path: `/control/users/${made.id}` }))).status).toBe(404)
    expect((await server.call(asOperator(server, { path: `/control/users/${offline.id}` }))).status).toBe(200)
    expect(await isGoodToken(server, viewer.token)).toBe(true)
  })

  ok('the clock is where it began, and goes on from there', async server => {
    await advance(server, 86_400)
    expectEmpty(await reset(server))
    const [face] = (await send(server, readClock, asOperator(server))).body.data
    expect(Date.parse(face.now) - Date.now()).toBeLessThan(60_000)
  })

  ok('as often as one likes, and several at once', async server => {
    const before = await entitlements(server)
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => retryWhileUnavailable(() => reset(server))),
    )
    for (const answer of answers) expectEmpty(answer)
    expect(await entitlements(server)).toEqual(before)
  })
})

describeOperation(
  planFault,
  {
    valid: server =>
      asOperator(server, { body: { operation: 'GetFollowedStreams', outcome: 'unavailable' } }),
  },
  ({ ok, fails }) => {
    ok('answers with the plan; once, if times is left out', async server => {
      const fault = { operation: 'GetStreams', outcome: 'unavailable' }
      expect((await plan(server, fault)).body).toEqual({ data: [{ ...fault, times: 1 }] })
      expect((await streams(server)).status).toBe(503)
      expect((await streams(server)).status).toBe(200)
    })

    ok('unavailable is 503, so many times, and for that operation alone', async server => {
      await plan(server, { operation: 'GetStreams', outcome: 'unavailable', times: 2 })
      expect((await server.call({ path: '/helix/streams/key' })).status).toBe(401)
      const seen = [await streams(server), await streams(server), await streams(server)]
      expect(seen.map(answer => answer.status)).toEqual([503, 503, 200])
      expect(seen[0]?.headers.get('retry-after')).toBe('1')
    })

    ok('rate_limited is 429 with an empty bucket', async server => {
      await plan(server, { operation: 'GetStreams', outcome: 'rate_limited' })
      const answer = await streams(server)
      expect([answer.status, answer.body.message]).toEqual([429, 'Request limit exceeded'])
      expect(answer.headers.get('ratelimit-remaining')).toBe('0')
      expect((await streams(server)).status).toBe(200)
    })

    ok('update_failed hits the entitlement that it names, in either case', async server => {
      const { viewer, benefit, game, client } = server.world
      const given = { user_id: viewer.id, benefit_id: benefit.id, game_id: game.id }
      const [one, other] = await server.control('POST', '/entitlements', { grants: [given, given] })
      const update = () =>
        server.call({
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          body: { entitlement_ids: [one.id, other.id], fulfillment_status: 'FULFILLED' },
          token: client.app_token,
        })
      const operation = 'UpdateDropsEntitlements'
      for (const entitlement_id of [one.id, one.id.toUpperCase()]) {
        await plan(server, { operation, outcome: 'update_failed', entitlement_id })
        expect((await update()).body.data).toEqual([
          { status: 'SUCCESS', ids: [other.id] },
          { status: 'UPDATE_FAILED', ids: [one.id] },
        ])
      }
      expect((await update()).body.data).toEqual([{ status: 'SUCCESS', ids: [one.id, other.id] }])
      const rows = await server.control('GET', `/entitlements?id=${one.id}`)
      expect(rows[0].fulfillment_status).toBe('FULFILLED')
    })

    ok('operations of every family can be made unavailable', async server => {
      const paths = { ValidateToken: '/oauth2/validate', ListUsers: '/control/users' }
      for (const [operation, path] of Object.entries(paths)) {
        await plan(server, { operation, outcome: 'unavailable' })
        expect((await server.call(asOperator(server, { path }))).problem).toBe('unavailable')
        expect((await server.call(asOperator(server, { path }))).problem).not.toBe('unavailable')
      }
    })

    fails('refused_reference', 'when something else than slow is given a length', server =>
      plan(server, { operation: 'GetStreams', outcome: 'unavailable', milliseconds: 5 }),
    )
    fails('refused_reference', 'when there is no such operation', server =>
      naming('GetNothing', plan(server, { operation: 'GetNothing', outcome: 'unavailable' })),
    )
    fails('refused_reference', 'when update_failed is planned for another operation', server =>
      plan(server, { operation: 'GetStreams', outcome: 'update_failed' }),
    )
    for (const operation of ['ListUsers']) {
      fails('refused_reference', `when ${operation}, which has no bucket, is to be rate_limited`, server =>
        plan(server, { operation, outcome: 'rate_limited' }),
      )
    }
    fails('malformed_parameter', 'when the outcome is another', server =>
      plan(server, { operation: 'GetStreams', outcome: 'explode' }),
    )
    for (const times of [0, 1.5, 1_000_001]) {
      fails('malformed_parameter', `when times is ${times}`, server =>
        plan(server, { operation: 'GetStreams', outcome: 'unavailable', times }),
      )
    }
  },
)

describeOperation(listFaults, { valid: server => asOperator(server) }, ({ ok }) => {
  ok('lists what is planned, with how often it will still strike', async server => {
    const listed = async () => (await send(server, listFaults, asOperator(server))).body.data
    await clear(server)
    expect(await listed()).toEqual([])
    const fault = { operation: 'GetStreams', outcome: 'unavailable' }
    await plan(server, { ...fault, times: 2 })
    await plan(server, { operation: 'ListUsers', outcome: 'slow', milliseconds: 5 })
    expect((await streams(server)).status).toBe(503)
    expect(await listed()).toEqual([
      { ...fault, times: 1 },
      { operation: 'ListUsers', outcome: 'slow', milliseconds: 5, times: 1 },
    ])
    await clear(server)
  })
})

describeOperation(clearFaults, { valid: server => asOperator(server) }, ({ ok }) => {
  ok('forgets every planned fault', async server => {
    for (const outcome of ['unavailable', 'rate_limited']) {
      await plan(server, { operation: 'GetStreams', outcome, times: 5 })
    }
    expect((await streams(server)).status).toBe(503)
    expectEmpty(await clear(server))
    expect((await streams(server)).status).toBe(200)
  })

  ok('is fine when nothing is planned', async server => {
    expectEmpty(await clear(server))
    expectEmpty(await clear(server))
  })
})

test('200 PlanFault: slow takes as long as was asked for', async () => {
  const server = await startTestServer('sqlite')
  try {
    await plan(server, { operation: 'GetStreams', outcome: 'slow', milliseconds: 250 })
    const began = performance.now()
    expect((await streams(server)).status).toBe(200)
    expect(performance.now() - began).toBeWithin(240, 4900)
  } finally {
    await server.stop()
  }
})

test('200 PlanFault: slow takes five seconds and holds up nobody else', async () => {
  const server = await startTestServer('sqlite')
  try {
    await plan(server, { operation: 'GetStreams', outcome: 'slow' })
    const began = performance.now()
    const order: string[] = []
    await Promise.all([
      streams(server).then(({ status }) => order.push(`slow ${status}`)),
      server.control('GET', '/users').then(() => order.push('another')),
    ])
    expect(order).toEqual(['another', 'slow 200'])
    expect(performance.now() - began).toBeGreaterThan(4900)
  } finally {
    await server.stop()
  }
})

for (const engine of engines) {
  test(`404 the demo's operations are absent outside demo mode on ${engine}`, async () => {
    const server = await startTestServer(engine, { demo: false })
    try {
      const absent = operations.filter(operation => operation.demoOnly)
      expect(absent.map(operation => operation.id).sort()).toEqual([
        'AdvanceClock',
        'ClearFaults',
        'ListFaults',
        'MintUserToken',
        'PlanFault',
        'ReadClock',
        'ResetWorld',
      ])
      for (const operation of absent) {
        const answer = await send(server, operation, asOperator(server, { body: operation.example.body }))
        expect([answer.status, answer.problem]).toEqual([404, 'route_unknown'])
      }
      expect((await server.call({ path: '/helix/streams' })).status).toBe(200)
    } finally {
      await server.stop()
    }
  })
}
