import { expect, spyOn, test } from 'bun:test'
import {
  advanceClock,
  clearFaults,
  clearRequests,
  listFaults,
  listRequests,
  planFault,
  readClock,
  readWorld,
  resetWorld,
  saveSnapshot,
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
    ok('moves the clock forward by so much and shows the time', async server => {
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

    ok('stops it also if time passes between two reads of it', async server => {
      const now = Date.now
      let passed = 0
      const ticking = spyOn(Date, 'now').mockImplementation(() => now() + passed++)
      try {
        const stopped = await send(server, advanceClock, asOperator(server, { body: { running: false } }))
        expect(stopped.body.data?.[0]?.running).toBe(false)
      } finally {
        ticking.mockRestore()
        await send(server, advanceClock, asOperator(server, { body: { running: true } }))
      }
    })

    fails('none_given', 'when nothing is asked for', server =>
      send(server, advanceClock, asOperator(server, { body: {} })),
    )
    ok('moves it by milliseconds, and to a time that is given', async server => {
      const pull = (body: object) => send(server, advanceClock, asOperator(server, { body }))
      const [{ now }] = (await pull({ running: false })).body.data
      const [later] = (await pull({ advance_seconds: 0.25 })).body.data
      expect(Date.parse(later.now) - Date.parse(now)).toBe(250)
      const time = new Date(Date.parse(now) + 86_400_000).toISOString()
      expect((await pull({ time, running: false })).body.data).toEqual([{ now: time, running: false }])
      await pull({ running: true })
    })

    fails('refused_reference', 'when the time is earlier, and the clock stays', async server => {
      const body = { time: '2001-01-01T00:00:00Z', running: false }
      const answer = await send(server, advanceClock, asOperator(server, { body }))
      expect(answer.body.message).toContain('cannot move back to 2001-01-01T00:00:00Z')
      expect((await send(server, readClock, asOperator(server))).body.data[0].running).toBe(true)
      return answer
    })
    fails('refused_reference', 'when it is to be moved both by and to a time', server =>
      send(
        server,
        advanceClock,
        asOperator(server, { body: { advance_seconds: 1, time: '2999-01-01T00:00:00Z' } }),
      ),
    )
    fails('malformed_parameter', 'when the day does not exist', server =>
      send(server, advanceClock, asOperator(server, { body: { time: '2999-02-30T00:00:00Z' } })),
    )
    fails('malformed_parameter', 'when a field is unknown', server =>
      naming('seconds', send(server, advanceClock, asOperator(server, { body: { seconds: 60 } }))),
    )
    for (const seconds of [0, -1, 0.0001, '60', 315_360_001]) {
      fails('malformed_parameter', `when advance_seconds is ${JSON.stringify(seconds)}`, server =>
        advance(server, seconds),
      )
    }
  },
)

describeOperation(readClock, { valid: server => asOperator(server), server: {} }, ({ ok }) => {
  ok('shows the time and that it runs', async server => {
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

  ok('the clock is where it began, and continues from there', async server => {
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

    ok('operations of every family for clients can be made unavailable', async server => {
      const paths = { ValidateToken: '/oauth2/validate', GetLatestStreams: '/playback/latest' }
      for (const [operation, path] of Object.entries(paths)) {
        expect((await plan(server, { operation, outcome: 'unavailable' })).status).toBe(200)
        expect((await server.call({ path })).problem).toBe('unavailable')
        expect((await server.call({ path })).problem).not.toBe('unavailable')
      }
    })

    ok('skip lets calls pass, and every call counts for all faults', async server => {
      const operation = 'GetStreams'
      await plan(server, { operation, outcome: 'unavailable', skip: 1 })
      await plan(server, { operation, outcome: 'internal_error', skip: 3 })
      const seen = []
      for (let call = 0; call < 5; call++) seen.push((await streams(server)).status)
      expect(seen).toEqual([200, 503, 200, 500, 200])
    })

    ok('where chooses calls by parameters of the query and by entries of lists in the body', async server => {
      const { broadcaster, client } = server.world
      await plan(server, {
        operation: 'GetStreams',
        outcome: 'bad_gateway',
        where: { user_id: broadcaster.id, first: 5 },
      })
      const get = (query: string) => fetch(`${server.url}/helix/streams?${query}`)
      expect((await get('first=5')).status).toBe(200)
      expect((await get(`user_id=1&first=5`)).status).toBe(200)
      const failed = await get(`user_id=1&user_id=${broadcaster.id}&first=5`)
      expect([failed.status, failed.headers.get('content-type')]).toEqual([502, 'text/html'])
      expect(await failed.text()).toContain('502 Bad Gateway')

      const operation = 'UpdateDropsEntitlements'
      await plan(server, { operation, outcome: 'token_invalid', where: { entitlement_ids: 'b' } })
      const update = (...entitlement_ids: string[]) =>
        server.call({
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          body: { entitlement_ids, fulfillment_status: 'FULFILLED' },
          token: client.app_token,
        })
      expect((await update('a')).status).toBe(200)
      expect((await update('a', 'b')).problem).toBe('token_invalid')
      expect((await update('a', 'b')).status).toBe(200)
    })

    ok('a call with invalid input does not use it up', async server => {
      await plan(server, { operation: 'GetStreams', outcome: 'unavailable' })
      expect((await server.call({ path: '/helix/streams', query: { first: 0 } })).status).toBe(400)
      expect((await streams(server)).status).toBe(503)
    })

    ok('probability chooses the same calls for the same seed', async server => {
      const run = async (seed: number) => {
        await plan(server, {
          operation: 'GetStreams',
          outcome: 'unavailable',
          probability: 0.5,
          seed,
          times: 99,
        })
        const seen = []
        for (let call = 0; call < 20; call++) seen.push((await streams(server)).status)
        await clear(server)
        return seen
      }
      const first = await run(3)
      expect(new Set(first)).toEqual(new Set([200, 503]))
      expect(await run(3)).toEqual(first)
      expect(await run(4)).not.toEqual(first)
    })

    ok('retry_after is what the caller is to wait', async server => {
      const operation = 'GetStreams'
      await plan(server, { operation, outcome: 'unavailable', retry_after: 7 })
      expect((await streams(server)).headers.get('retry-after')).toBe('7')
      await plan(server, { operation, outcome: 'rate_limited', retry_after: 30 })
      const { headers } = await streams(server)
      expect(headers.get('retry-after')).toBe('30')
      expect(Number(headers.get('ratelimit-reset')) - Date.now() / 1000).toBeWithin(20, 32)
    })

    for (const [what, fault] of Object.entries({
      'a parameter that the operation does not have': {
        operation: 'GetStreams',
        outcome: 'slow',
        where: { entitlement_id: '1' },
      },
      'the outcome broken_json of an operation without an answer': {
        operation: 'DeleteEventSubSubscription',
        outcome: 'broken_json',
      },
      'the outcome token_invalid of an operation without a token': {
        operation: 'CreateToken',
        outcome: 'token_invalid',
      },
      'a seed without probability': { operation: 'GetStreams', outcome: 'slow', seed: 1 },
      'retry_after of a slow call': { operation: 'GetStreams', outcome: 'slow', retry_after: 1 },
      'entitlement_id with another outcome': {
        operation: 'UpdateDropsEntitlements',
        outcome: 'unavailable',
        entitlement_id: 'x',
      },
      'where with update_failed': {
        operation: 'UpdateDropsEntitlements',
        outcome: 'update_failed',
        where: { entitlement_ids: 'x' },
      },
    }))
      fails('refused_reference', `when it is ${what}`, server => plan(server, fault))
    fails('malformed_parameter', 'when a field is unknown, with those that exist', async server => {
      const fault = { operation: 'GetStreams', outcome: 'slow', entitlement: 'granted' }
      const answer = await naming('entitlement', plan(server, fault))
      expect(answer.body.message).toContain('the fields are operation, outcome, entitlement_id, where')
      return answer
    })
    fails('malformed_parameter', 'when a value of where is a list', server =>
      naming(
        'where.user_id',
        plan(server, { operation: 'GetStreams', outcome: 'slow', where: { user_id: [] } }),
      ),
    )
    fails('refused_reference', 'when something else than slow is given a length', server =>
      plan(server, { operation: 'GetStreams', outcome: 'unavailable', milliseconds: 5 }),
    )
    fails('refused_reference', 'when there is no such operation', server =>
      naming('GetNothing', plan(server, { operation: 'GetNothing', outcome: 'unavailable' })),
    )
    fails('refused_reference', 'when update_failed is planned for another operation', server =>
      plan(server, { operation: 'GetStreams', outcome: 'update_failed' }),
    )
    for (const [operation, message] of Object.entries({
      GetStream:
        'The operation GetStream is one of the control API, to which faults do not apply; did you mean GetStreams?',
      GetStreemz: 'There is no operation called "GetStreemz"; did you mean GetStreams?',
      PlanFault:
        'The operation PlanFault is one of the control API, to which faults do not apply; the reference lists those of Helix, drops, OAuth and playback.',
    }))
      fails(
        'refused_reference',
        `when it is ${operation}, with the operation that was meant`,
        async server => {
          const answer = await plan(server, { operation, outcome: 'unavailable' })
          expect(answer.body.message).toBe(message)
          return answer
        },
      )
    for (const [what, fault, message] of [
      ['a call has no operation', { outcome: 'slow' }, 'The field operation is required'],
      [
        'a message has an operation',
        { operation: 'GetStreams', outcome: 'webhook_twice' },
        'The field operation is not valid with the outcome webhook_twice',
      ],
      [
        'a message is chosen by a parameter',
        { outcome: 'webhook_twice', where: { session_id: 'x' } },
        'A message has no parameter or field "session_id"; it has type, subscription_id.',
      ],
      [
        'the type of event does not exist',
        { outcome: 'socket_silent', where: { type: 'stream.onlin' } },
        'There is no type of event called "stream.onlin"',
      ],
      ['bytes are given to another outcome', { operation: 'GetStreams', outcome: 'slow', bytes: 5 }, 'bytes'],
      [
        'an answer without a body is to be cut',
        { operation: 'DeleteEventSubSubscription', outcome: 'answer_cut' },
        'does not answer with JSON',
      ],
    ] as const)
      fails('refused_reference', `when ${what}`, async server => {
        const answer = await plan(server, fault)
        expect(answer.body.message).toContain(message)
        return answer
      })
    for (const bounds of [{ bytes: 0 }, { bytes: 1_000_001 }, { milliseconds: 60_001 }])
      fails('malformed_parameter', `when a stall has ${JSON.stringify(bounds)}`, server =>
        plan(server, { operation: 'GetStreams', outcome: 'answer_stalled', ...bounds }),
      )
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
    await plan(server, { operation: 'GetUsers', outcome: 'slow', milliseconds: 5 })
    expect((await streams(server)).status).toBe(503)
    expect(await listed()).toEqual([
      { ...fault, times: 1 },
      { operation: 'GetUsers', outcome: 'slow', milliseconds: 5, times: 1 },
    ])
    await clear(server)
    await plan(server, { ...fault, skip: 2 })
    await streams(server)
    expect(await listed()).toEqual([{ ...fault, times: 1, skip: 1 }])
    await clear(server)
  })
})

describeOperation(saveSnapshot, { valid: server => asOperator(server) }, ({ ok }) => {
  const reset = (server: TestServer, to?: string) =>
    send(server, resetWorld, asOperator(server, { body: { to } }))
  const readable = async (server: TestServer) => ({
    users: (await server.control('GET', '/users?first=100')).map((user: { id: string }) => user.id),
    follows: (
      await server.call({
        path: '/helix/channels/followers',
        query: { broadcaster_id: server.world.broadcaster.id },
        token: server.world.broadcaster.token,
      })
    ).body.total,
    streams: (await streams(server)).body.data.map((stream: { id: string }) => stream.id),
    faults: (await send(server, listFaults, asOperator(server))).body.data,
  })

  ok(
    'a reset returns to it: rows, streams, tokens, faults and the clock, as often as one likes',
    async server => {
      const { broadcaster, viewer } = server.world
      const initial = await readable(server)
      const made = await newUser(server)
      await server.control('PUT', `/channels/${made.id}/stream`, { viewer_count: 999_999 })
      await plan(server, { operation: 'GetUsers', outcome: 'unavailable', times: 5, skip: 2 })
      const [{ now }] = (await send(server, advanceClock, asOperator(server, { body: { running: false } })))
        .body.data
      const before = await readable(server)
      expectEmpty(await send(server, saveSnapshot, asOperator(server)))
      for (let turn = 0; turn < 2; turn++) {
        await clear(server)
        await advance(server, 3600)
        await server.control('DELETE', `/channels/${broadcaster.id}/stream`)
        await server.control('DELETE', '/tokens', { token: viewer.token })
        const gone = await newUser(server)
        expectEmpty(await reset(server))
        expect(await readable(server)).toEqual(before)
        expect((await send(server, readClock, asOperator(server))).body.data).toEqual([
          { now, running: false },
        ])
        expect(await isGoodToken(server, viewer.token)).toBe(true)
        expect((await server.call(asOperator(server, { path: `/control/users/${gone.id}` }))).status).toBe(
          404,
        )
      }
      expectEmpty(await reset(server, 'start'))
      expect(await readable(server)).toEqual(initial)
      expectEmpty(await reset(server))
      expect(await readable(server)).toEqual(initial)
    },
  )
})

describeOperation(readWorld, { valid: server => asOperator(server), server: {} }, ({ ok }) => {
  ok('is a document', async server => {
    expect((await send(server, readWorld, asOperator(server))).body.data).toHaveLength(1)
  })
})

const listed = async (server: TestServer, query: object = {}) =>
  (await send(server, listRequests, asOperator(server, { query: query as never }))).body

describeOperation(listRequests, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('lists what was called with what, without the control API', async server => {
    const { client } = server.world
    await send(server, clearRequests, asOperator(server))
    await server.call({ path: '/helix/streams', query: { user_id: ['1', '2'] } })
    await server.call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids: ['x'], fulfillment_status: 'FULFILLED' },
      token: client.app_token,
    })
    await fetch(`${server.url}/helix/streamz`)
    await server.control('GET', '/users')
    const { total, data } = await listed(server)
    expect(total).toBe(3)
    expect(data.map((each: { operation: string }) => each.operation)).toEqual([
      'GetStreams',
      'UpdateDropsEntitlements',
      null,
    ])
    expect(data[0]).toMatchObject({ query: { user_id: ['1', '2'] }, body: null, status: 200, fault: null })
    expect(data[1]).toMatchObject({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids: ['x'], fulfillment_status: 'FULFILLED' },
      client_id: client.id,
      user_id: null,
      answer: { data: [{ status: 'INVALID_ID', ids: ['x'] }] },
    })
    expect(data[2]).toMatchObject({ path: '/helix/streamz', status: 404 })
    const [, update] = data
    expect(await listed(server, { operation: 'UpdateDropsEntitlements' })).toEqual({
      total: 1,
      data: [update],
    })
    expect((await listed(server, { after: update.number })).data).toHaveLength(1)
    expect((await listed(server, { first: 1 })).data).toHaveLength(1)
  })

  ok('masks tokens, secrets and stream keys in query, headers, body and answer', async server => {
    const { client, broadcaster } = server.world
    await send(server, clearRequests, asOperator(server))
    await server.call({
      path: '/helix/streams/key',
      query: { broadcaster_id: broadcaster.id },
      token: broadcaster.token,
    })
    const form = new URLSearchParams({
      client_id: client.id,
      client_secret: client.secret,
      grant_type: 'client_credentials',
    })
    const issued = await fetch(`${server.url}/oauth2/token`, { method: 'POST', body: form })
    const { access_token } = (await issued.json()) as { access_token: string }
    await fetch(`${server.url}/oauth2/token?${form}`, { method: 'POST' })
    await fetch(`${server.url}/helix/streamz?login=${broadcaster.token}`)
    const { data } = await listed(server)
    const text = JSON.stringify(data)
    expect(data).toHaveLength(4)
    for (const secret of [client.secret, broadcaster.token, access_token, 'live_'])
      expect(text).not.toContain(secret)
    expect(data[0].headers.authorization).toBe('Bearer ***')
    expect(data[0].answer.data[0].stream_key).toBe('***')
    expect(data[1].body).toContain('client_secret=***')
    expect(data[1].answer.access_token).toBe('***')
    expect(data[2].query.client_secret).toEqual(['***'])
  })

  ok('waits for the next one, and no longer than it is asked to', async server => {
    await send(server, clearRequests, asOperator(server))
    const operation = 'GetStreams'
    const waiting = listed(server, { operation, wait_milliseconds: 10_000 })
    await server.call({ path: '/helix/users', query: { login: 'x' } })
    await streams(server)
    expect((await waiting).data).toHaveLength(1)
    expect((await listed(server, { operation: 'GetGames', wait_milliseconds: 50 })).data).toEqual([])
  })

  fails('refused_reference', 'when there is no such operation', server =>
    naming(
      'GetNothing',
      send(server, listRequests, asOperator(server, { query: { operation: 'GetNothing' } })),
    ),
  )
  for (const query of [{ first: 0 }, { first: 1001 }, { wait_milliseconds: 10_001 }, { after: 'x' }])
    fails('malformed_parameter', `when the query is ${JSON.stringify(query)}`, server =>
      send(server, listRequests, asOperator(server, { query: query as never })),
    )
})

describeOperation(clearRequests, { valid: server => asOperator(server) }, ({ ok }) => {
  ok('forgets all, as a reset does, and counts on', async server => {
    await streams(server)
    const [last] = (await listed(server)).data.slice(-1)
    for (const clear of [clearRequests, resetWorld]) {
      expectEmpty(await send(server, clear, asOperator(server)))
      expect(await listed(server)).toEqual({ total: 0, data: [] })
      await streams(server)
      const { total, data } = await listed(server)
      expect([total, data[0].number > last.number]).toEqual([1, true])
    }
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

test('400 PlanFault: at most 1000 are planned', async () => {
  const server = await startTestServer('sqlite')
  try {
    const fault = { operation: 'GetStreams', outcome: 'slow' }
    for (let count = 0; count < 1000; count += 100)
      await Promise.all(Array.from({ length: 100 }, () => plan(server, fault)))
    const { problem, body } = await plan(server, fault)
    expect([problem, body.message]).toEqual([
      'refused_reference',
      'At most 1000 faults may be planned; remove some first.',
    ])
  } finally {
    await server.stop()
  }
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

test('200 PlanFault: slow takes five seconds and holds up no other call', async () => {
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
        'ClearRequests',
        'ListFaults',
        'ListRequests',
        'ListWatching',
        'MintUserToken',
        'PlanFault',
        'ReadClock',
        'ReadWorld',
        'ResetWorld',
        'SaveSnapshot',
        'StartWatching',
        'StopWatching',
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
