/** What holds for every answer under /helix, whichever operation gives it: section 1 of the wire. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { operations } from '../../src/contract/index.ts'
import { familyOf, type Operation } from '../../src/contract/operation.ts'
import { Networks } from '../../src/kit/networks.ts'
import { latestVideo } from '../operations/control/operator.ts'
import { subscribe, wanted } from '../operations/helix/subscriptions.ts'
import {
  type Answer,
  type Ask,
  type EngineName,
  engines,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../support/server.ts'

const helix: readonly Operation[] = operations.filter(operation => familyOf(operation) === 'helix')
const paths = [...new Set(helix.map(operation => operation.path))]
const publicPaths = new Set(
  operations.filter(operation => familyOf(operation) !== 'control').map(({ path }) => path),
)
const UNKNOWN = '00000000-0000-4000-8000-00000000beef'
const RATE_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']
const SMALL = { rateLimits: { app: 5, user: 5, anonymous: 5 } }

/** A request for each operation that succeeds. */
async function goodAsks(server: TestServer): Promise<Record<string, Ask>> {
  const { broadcaster, viewer, client } = server.world
  const video_id = await latestVideo(server, broadcaster.id)
  return {
    GetDropsEntitlements: { token: client.app_token, query: { first: 2 } },
    UpdateDropsEntitlements: {
      token: client.app_token,
      body: { entitlement_ids: [UNKNOWN], fulfillment_status: 'CLAIMED' },
    },
    GetStreams: { query: { first: 2 } },
    GetFollowedStreams: { token: viewer.token, query: { user_id: viewer.id, first: 1 } },
    GetStreamKey: { token: broadcaster.token, query: { broadcaster_id: broadcaster.id } },
    CreateStreamMarker: { token: broadcaster.token, body: { user_id: broadcaster.id } },
    GetStreamMarkers: { token: broadcaster.token, query: { user_id: broadcaster.id } },
    GetUsers: { token: broadcaster.token },
    UpdateUser: { token: broadcaster.token, query: { description: '' } },
    GetGames: { token: client.app_token, query: { id: server.world.game.id } },
    SearchCategories: { token: client.app_token, query: { query: 'the' } },
    GetVideos: { token: client.app_token, query: { user_id: broadcaster.id } },
    DeleteVideos: { token: broadcaster.token, query: { id: '999' } },
    GetChannelInformation: { token: client.app_token, query: { broadcaster_id: broadcaster.id } },
    ModifyChannelInformation: {
      token: broadcaster.token,
      query: { broadcaster_id: broadcaster.id },
      body: { title: 'Changed' },
    },
    GetFollowedChannels: { token: viewer.token, query: { user_id: viewer.id, first: 1 } },
    GetChannelFollowers: { token: client.app_token, query: { broadcaster_id: broadcaster.id } },
    GetChannelEditors: { token: broadcaster.token, query: { broadcaster_id: broadcaster.id } },
    GetTopGames: { token: client.app_token, query: { first: 2 } },
    SearchChannels: { token: client.app_token, query: { query: broadcaster.login } },
    ExportStreamMarkers: { token: broadcaster.token, query: { video_id, format: 'json' } },
    CreateEventSubSubscription: { token: client.app_token, body: wanted(server) },
    GetEventSubSubscriptions: { token: client.app_token },
    DeleteEventSubSubscription: {
      token: client.app_token,
      query: { id: (await subscribe(server)).body.data[0].id },
    },
  }
}

const under = (prefix: string, operation: Operation) => operation.path.replace('/helix', prefix)

/** An answer of the family, of whatever status: type, request id, cross-origin and rate headers. */
function expectCommon(answer: Answer): void {
  expect(answer.headers.get('content-type')).toBe(answer.status === 204 ? null : 'application/json')
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
  for (const name of RATE_HEADERS) expect(answer.headers.get(name)).toMatch(/^[0-9]+$/)
  const exposed = listOf(answer.headers.get('access-control-expose-headers'))
  for (const name of [...RATE_HEADERS, 'x-request-id']) expect(exposed).toContain(name)
}

/** The three fields of a failure, and what every answer has. */
function expectFailure(answer: Answer, status: number, error: string, message?: string): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { error, status, message: message ?? expect.any(String) },
  })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expectCommon(answer)
}

const listOf = (header: string | null) => (header ?? '').split(',').map(each => each.trim().toLowerCase())
const rateOf = (answer: Answer) => RATE_HEADERS.slice(0, 2).map(name => Number(answer.headers.get(name)))

async function withServer(
  engine: EngineName,
  options: TestServerOptions,
  proof: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startTestServer(engine, options)
  try {
    await proof(server)
  } finally {
    await server.stop()
  }
}

/** Bytes on the wire exactly as given; gives everything that came back. */
function sendBytes(server: TestServer, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write(bytes)
  })
}

for (const engine of engines) {
  describe(`every answer on ${engine}`, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startTestServer(engine)
    })
    afterAll(() => server.stop())

    for (const operation of helix) {
      const status = operation.status ?? 200
      test(`${status} ${operation.id} answers under /helix and /mock alike`, async () => {
        for (const prefix of ['/helix', '/mock']) {
          const ask = (await goodAsks(server))[operation.id] as Ask
          const answer = await server.call({
            ...ask,
            method: operation.method,
            path: under(prefix, operation),
          })
          expect(answer.status).toBe(status)
          if (status === 204) expect(answer.text).toBe('')
          else expect(Array.isArray(answer.body.data)).toBe(operation.answerFile === undefined)
          expectCommon(answer)
        }
      })
    }

    test('200 a cursor given under /helix is good under /mock', async () => {
      const page = await server.call({ path: '/helix/streams', query: { first: 2 } })
      const { cursor: after } = page.body.pagination
      const next = await server.call({ path: '/mock/streams', query: { first: 2, after } })
      expect(next.status).toBe(200)
      expect(next.body.data[0].id).not.toBe(page.body.data[0].id)
    })

    test('404 an unknown route, with the three fields', async () => {
      for (const path of [
        '/helix/nothing',
        '/helix/',
        '/helix/streams/',
        '/helix//streams',
        '/helix/Streams',
        '/helix/streams/key/more',
        '/helix/entitlements',
        '/mock/clips',
        '/mock/helix/streams',
        '/helix/%73treams',
        '/helix/__proto__',
      ]) {
        for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
          expectFailure(await server.call({ method, path }), 404, 'Not Found')
        }
      }
    })

    test('404 /helix alone, which is an answer of the family too', async () => {
      for (const path of ['/helix', '/mock']) expectFailure(await server.call({ path }), 404, 'Not Found')
    })

    test('404 a wrong method on a known path, token or no token', async () => {
      for (const path of paths) {
        const known = helix.filter(operation => operation.path === path).map(operation => operation.method)
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
          if (known.includes(method)) continue
          for (const token of [undefined, server.world.broadcaster.token, 'rubbish']) {
            for (const prefix of ['/helix', '/mock']) {
              const answer = await server.call({ method, path: path.replace('/helix', prefix), token })
              expectFailure(answer, 404, 'Not Found')
            }
          }
        }
      }
    })

    test('404 outside every family is JSON with the three fields too', async () => {
      for (const path of ['/nothing', '/helixx/streams', '/favicon.png']) {
        const answer = await server.call({ path })
        expect(answer.status).toBe(404)
        expect(Object.keys(answer.body)).toEqual(['error', 'status', 'message'])
        expect(answer.headers.get('content-type')).toBe('application/json')
      }
    })

    describe('tokens', () => {
      const key = (changes: Ask) =>
        server.call({
          path: '/helix/streams/key',
          query: { broadcaster_id: server.world.broadcaster.id },
          ...changes,
        })
      const challengeOf = (answer: Answer) => answer.headers.get('www-authenticate')

      test('401 a missing token, with a plain challenge', async () => {
        const { client, broadcaster } = server.world
        for (const changes of [
          {},
          { headers: { 'Client-Id': client.id } },
          { headers: { Authorization: '' } },
          { search: `access_token=${broadcaster.token}&oauth_token=${broadcaster.token}` },
        ]) {
          const answer = await key(changes)
          expectFailure(answer, 401, 'Unauthorized', 'OAuth token is missing')
          expect(challengeOf(answer)).toBe('OAuth realm="Strand"')
        }
      })

      test('401 a token that is malformed, unknown, expired or revoked, named by the challenge', async () => {
        const { client, broadcaster } = server.world
        const minted = async (more: object = {}) => {
          const [{ access_token }] = await server.control('POST', '/tokens', {
            client_id: client.id,
            user_id: broadcaster.id,
            scopes: ['channel:read:stream_key'],
            ...more,
          })
          return access_token as string
        }
        const expired = await minted({ expires_in: 1 })
        await server.control('POST', '/clock', { advance_seconds: 2 })
        const revoked = await minted()
        expect((await key({ token: revoked })).status).toBe(200)
        await server.control('DELETE', '/tokens', { token: revoked })
        const good = broadcaster.token
        const unknown = good.slice(0, -1) + (good.endsWith('a') ? 'b' : 'a')
        for (const authorization of [
          'Bearer',
          'Bearer x',
          `Bearer ${unknown}`,
          `Bearer ${expired}`,
          `Bearer ${revoked}`,
          `Bearer ${good} ${good}`,
          `Bearer ${good},`,
          `OAuth ${good}`,
          `Basic ${btoa(good)}`,
          good,
          `Bearer ${'x'.repeat(5000)}`,
        ]) {
          const answer = await key({ headers: { Authorization: authorization } })
          expectFailure(answer, 401, 'Unauthorized', 'Invalid OAuth token')
          expect(challengeOf(answer)).toBe('OAuth realm="Strand", error="invalid_token"')
        }
      })

      test('401 client, kind, scope and identity carry no challenge', async () => {
        const { client, other_client, broadcaster, viewer } = server.world
        const [{ access_token: bare }] = await server.control('POST', '/tokens', {
          client_id: client.id,
          user_id: broadcaster.id,
          scopes: [],
        })
        const mismatch = 'Client ID and OAuth token do not match'
        for (const [changes, message] of [
          [{ token: broadcaster.token, headers: { 'Client-Id': other_client.id } }, mismatch],
          [{ token: broadcaster.token, headers: { 'Client-Id': client.id.toUpperCase() } }, mismatch],
          [{ token: client.app_token }, undefined],
          [{ token: bare }, 'Missing scope: channel:read:stream_key'],
          [
            { token: viewer.token },
            "The ID in broadcaster_id must match the user ID found in the request's OAuth token.",
          ],
        ] as const) {
          const answer = await key(changes)
          expectFailure(answer, 401, 'Unauthorized', message)
          expect(challengeOf(answer)).toBeNull()
        }
      })

      test('200 the scheme in any case, and the Client-Id of the token', async () => {
        const { client, broadcaster } = server.world
        for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
          const headers = { Authorization: `${scheme} ${broadcaster.token}`, 'client-ID': client.id }
          expect((await key({ headers })).status).toBe(200)
        }
      })

      test('the checks come in their order: client, kind, scope, parameters, existence, ownership', async () => {
        const { client, other_client, viewer, offline, broadcaster } = server.world
        const [{ access_token: bare }] = await server.control('POST', '/tokens', {
          client_id: client.id,
          user_id: viewer.id,
          scopes: [],
        })
        const foreign = { 'Client-Id': other_client.id }
        const mark = (changes: Ask) =>
          server.call({ method: 'POST', path: '/helix/streams/markers', rawBody: '{', ...changes })
        const steps: [Ask, string][] = [
          [{ token: 'rubbish', headers: foreign }, 'token_invalid'],
          [{ token: client.app_token, headers: foreign }, 'client_mismatch'],
          [{ token: bare, headers: foreign }, 'client_mismatch'],
          [{ token: client.app_token }, 'user_token_required'],
          [{ token: bare }, 'scope_missing'],
          [{ token: viewer.token }, 'malformed_json'],
          [{ token: viewer.token, rawBody: `{"user_id":"${offline.id}"}` }, 'not_live'],
          [{ token: viewer.token, rawBody: `{"user_id":"${broadcaster.id}"}` }, 'marker_forbidden'],
        ]
        for (const [changes, problem] of steps) expect((await mark(changes)).problem).toBe(problem)
      })
    })

    describe('bodies', () => {
      const update = (changes: Ask) =>
        server.call({
          method: 'PATCH',
          path: '/helix/entitlements/drops',
          token: server.world.client.app_token,
          ...changes,
        })
      const bodyOf = (bytes: number) => {
        const start = `{"entitlement_ids":["${UNKNOWN}"],"fulfillment_status":"CLAIMED","more":"`
        return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
      }
      const chunked = (text: string) =>
        sendBytes(
          server,
          `PATCH /helix/entitlements/drops HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
            `Authorization: Bearer ${server.world.client.app_token}\r\nTransfer-Encoding: chunked\r\n\r\n` +
            `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
        )

      test('200 a body of 64 KiB to the byte', async () => {
        expect((await update({ rawBody: bodyOf(65_536) })).status).toBe(200)
        expect(await chunked(bodyOf(65_536))).toStartWith('HTTP/1.1 200 ')
      })

      test('413 a body of one byte more, its length given or not', async () => {
        expectFailure(await update({ rawBody: bodyOf(65_537) }), 413, 'Payload Too Large')
        const text = await chunked(bodyOf(65_537))
        expect(text).toStartWith('HTTP/1.1 413 ')
        expect(text).toContain('\r\nContent-Type: application/json\r\n')
        expect(text).toContain('{"error":"Payload Too Large","status":413,')
      })

      test('401 comes before 413: a stranger cannot make the server read', async () => {
        const answer = await update({ token: undefined, rawBody: bodyOf(1_000_000) })
        expectFailure(answer, 401, 'Unauthorized')
      })

      test('400 JSON that is broken, or no object, or too deep', async () => {
        for (const rawBody of [
          '{',
          'nul',
          '[]',
          '""',
          '0',
          '{"a":1}}',
          "{'a':1}",
          '\u0000',
          '{"a":\u0000}',
        ]) {
          expectFailure(await update({ rawBody }), 400, 'Bad Request')
        }
        const nested = `{"entitlement_ids":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`
        expectFailure(await update({ rawBody: nested }), 400, 'Bad Request')
      })

      test('200 an unknown field may be as deep as it likes', async () => {
        const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
        const rawBody = `{"entitlement_ids":["${UNKNOWN}"],"fulfillment_status":"CLAIMED","more":${deep}}`
        expect((await update({ rawBody })).status).toBe(200)
      })
    })

    test('400 a query whose percent-encoded bytes are not UTF-8', async () => {
      const answer = await server.call({ path: '/helix/streams', search: 'user_login=%FF' })
      expectFailure(answer, 400, 'Bad Request')
    })

    test('400 a placeholder whose bytes are not UTF-8, after the token was looked at', async () => {
      const path = '/control/users/%FF'
      expect((await server.call({ path })).problem).toBe('operator_required')
      const answer = await server.call({ path, token: server.world.operator_token })
      expect([answer.status, answer.problem]).toEqual([400, 'malformed_query'])
    })

    test('raw bytes in a query are taken if they are UTF-8; the runtime replaces what is not', async () => {
      const request = (text: string, encoding: 'utf8' | 'latin1') => {
        const target = `/helix/streams?user_login=${text}`
        const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, encoding)
        return sendBytes(server, bytes)
      }
      expect(await request('café', 'utf8')).toStartWith('HTTP/1.1 200 ')
      expect(await request('caf\xe9', 'latin1')).toStartWith('HTTP/1.1 200 ')
    })

    test('503 with the three fields when the store cannot be reached', async () => {
      await server.control('POST', '/faults', { operation: 'GetStreams', outcome: 'unavailable' })
      expectFailure(await server.call({ path: '/helix/streams' }), 503, 'Service Unavailable')
    })

    describe('pages of other origins', () => {
      const preflight = (path: string, headers: Record<string, string> = {}) =>
        server.call({
          method: 'OPTIONS',
          path,
          headers: {
            Origin: 'https://example.com',
            'Access-Control-Request-Method': 'PATCH',
            'Access-Control-Request-Headers': 'authorization,client-id,content-type,idempotency-key',
            ...headers,
          },
        })

      test('204 a preflight needs no token, names headers and methods, and shows no rate', async () => {
        for (const path of [
          ...publicPaths,
          ...paths.map(path => path.replace('/helix', '/mock')),
          '/helix/nothing',
        ]) {
          for (const headers of [{}, { Authorization: 'Bearer rubbish' }]) {
            const answer = await preflight(path, headers)
            expect([answer.status, answer.text]).toEqual([204, ''])
            expect(answer.headers.get('access-control-allow-origin')).toBe('*')
            const allowed = listOf(answer.headers.get('access-control-allow-headers'))
            for (const name of ['authorization', 'client-id', 'content-type', 'idempotency-key']) {
              expect(allowed).toContain(name)
            }
            const methods = listOf(answer.headers.get('access-control-allow-methods'))
            for (const name of ['get', 'post', 'put', 'patch', 'delete', 'options'])
              expect(methods).toContain(name)
            for (const name of RATE_HEADERS) expect(answer.headers.has(name)).toBe(false)
            expect(answer.headers.get('x-request-id')).toBeTruthy()
          }
        }
      })

      test('no answer lets credentials along', async () => {
        const answer = await server.call({
          path: '/helix/streams',
          headers: { Origin: 'https://example.com', Cookie: 'a=b' },
        })
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
        expect(answer.headers.has('set-cookie')).toBe(false)
      })

      test('no operation of the control API is open to other origins', async () => {
        for (const { path } of operations.filter(operation => familyOf(operation) === 'control'))
          expect((await preflight(path)).headers.has('access-control-allow-origin')).toBe(false)
      })
    })

    describe('the request id', () => {
      const idOf = async (given: string, path = '/helix/streams') => {
        const answer = await server.call({ path, headers: { 'X-Request-Id': given }, query: { first: 1 } })
        return answer.headers.get('x-request-id') ?? ''
      }

      test('is taken from the request if well formed, on every answer and in the log', async () => {
        for (const given of ['a', 'A-1_b.c', '0'.repeat(128), crypto.randomUUID()]) {
          expect(await idOf(given)).toBe(given)
          expect(await idOf(given, '/helix/nothing')).toBe(given)
          expect(await idOf(given, '/helix/streams/key')).toBe(given)
          const lines = server.logLines.filter(line => JSON.parse(line).request_id === given)
          expect(lines.length).toBe(3)
        }
      })

      test('is generated if it is not, each time another', async () => {
        const made: string[] = []
        for (const given of ['', 'a b', '0'.repeat(129), 'a"b', 'a{b}', 'a/b', '<b>', 'é']) {
          const id = await idOf(given)
          expect(id).toMatch(/^[A-Za-z0-9._-]{8,128}$/)
          expect(id).not.toBe(given)
          made.push(id)
        }
        expect(new Set(made).size).toBe(made.length)
      })
    })

    test('no token and no secret is in the log', async () => {
      const asks = await goodAsks(server)
      for (const operation of helix) {
        const { method, path } = operation
        const answer = await server.call({ method, path, ...asks[operation.id] })
        expect(answer.status).toBe(operation.status ?? 200)
      }
      const { client, other_client, users, operator_token } = server.world
      const secrets = [client, other_client].flatMap(each => [each.secret, each.app_token])
      const log = server.logLines.join('\n')
      for (const secret of [...secrets, ...users.map(user => user.token), operator_token]) {
        expect(log.includes(secret)).toBe(false)
      }
    })

    test('a bucket that is switched off shows itself full, always', async () => {
      for (const token of [undefined, server.world.client.app_token, server.world.viewer.token]) {
        for (let n = 0; n < 3; n++) {
          const before = Date.now() / 1000
          const answer = await server.call({ path: '/helix/streams', token })
          expect(rateOf(answer)).toEqual([800, 800])
          const reset = Number(answer.headers.get('ratelimit-reset'))
          expect(reset).toBeWithin(before - 1, Date.now() / 1000 + 1)
        }
      }
    })
  })
}

/** Buckets are in memory: the store has no part in them, so one is enough. */
describe('rate limits', () => {
  const engine = 'sqlite'
  const streams = (server: TestServer, changes: Ask = {}) =>
    server.call({ path: '/helix/streams', query: { first: 1 }, ...changes })
  const drain = async (server: TestServer, changes: Ask = {}) => {
    for (let n = 0; n < 5; n++) await streams(server, changes)
  }
  const expectLimited = (answer: Answer) => {
    expectFailure(answer, 429, 'Too Many Requests', 'Request limit exceeded')
    expect(rateOf(answer)).toEqual([5, 0])
    // A point comes every 12 s; some of them may have passed.
    expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 13)
  }
  const limited = (title: string, proof: (server: TestServer) => Promise<void>) =>
    test(title, () => withServer(engine, { config: SMALL }, proof))

  limited('429 when the bucket is empty; the headers count down and show when it is full', async server => {
    const before = Date.now() / 1000
    for (const remaining of [4, 3, 2, 1, 0]) {
      const answer = await streams(server)
      expect(answer.status).toBe(200)
      expect(rateOf(answer)).toEqual([5, remaining])
      const full = (5 - remaining) * 12
      const reset = Number(answer.headers.get('ratelimit-reset'))
      expect(reset).toBeWithin(before + full - 1, Date.now() / 1000 + full + 1)
    }
    expectLimited(await streams(server))
    expectLimited(await streams(server))
  })

  limited('429 for all but five of twenty that come together', async server => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => streams(server)))
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(5)
    expect(answers.filter(answer => answer.status === 429)).toHaveLength(15)
  })

  limited('the tokens of an app share its bucket, and no other caller does', async server => {
    const { client, other_client, viewer } = server.world
    const [{ access_token }] = await server.control('POST', '/tokens', { client_id: client.id })
    for (const token of [client.app_token, access_token, client.app_token, access_token, access_token]) {
      expect((await streams(server, { token })).status).toBe(200)
    }
    expectLimited(await streams(server, { token: client.app_token }))
    for (const token of [other_client.app_token, viewer.token, undefined]) {
      expect(rateOf(await streams(server, { token }))).toEqual([5, 4])
    }
  })

  limited(
    'the tokens of a user with a client share a bucket, not with another client or user',
    async server => {
      const { client, other_client, viewer, editor } = server.world
      const minted = async (client_id: string) => {
        const [{ access_token }] = await server.control('POST', '/tokens', {
          client_id,
          user_id: viewer.id,
        })
        return access_token as string
      }
      const second = await minted(client.id)
      for (const token of [viewer.token, second, viewer.token, second, second])
        await streams(server, { token })
      expectLimited(await streams(server, { token: viewer.token }))
      expectLimited(await streams(server, { token: second }))
      for (const token of [editor.token, await minted(other_client.id)]) {
        expect(rateOf(await streams(server, { token }))).toEqual([5, 4])
      }
    },
  )

  limited('every answer costs a point: 400, 401, 403, 404, 503 and those under /mock', async server => {
    const { viewer, broadcaster } = server.world
    const { token } = viewer
    await server.control('POST', '/faults', { operation: 'GetStreams', outcome: 'unavailable' })
    const calls: [Ask, number][] = [
      [{ path: '/mock/streams' }, 503],
      [{ path: '/helix/streams', search: 'first=0' }, 400],
      [{ path: '/helix/streams/key', query: { broadcaster_id: broadcaster.id } }, 401],
      [{ path: '/mock/streams/markers', query: { user_id: broadcaster.id } }, 403],
      [{ path: '/helix/nothing' }, 404],
    ]
    for (const [index, [ask, status]] of calls.entries()) {
      const answer = await server.call({ ...ask, token })
      expect([answer.status, ...rateOf(answer)]).toEqual([status, 5, 4 - index])
    }
    expectLimited(await streams(server, { token }))
  })

  limited('429 even where the scope is missing, the client is another or the kind is wrong', async server => {
    const { client, other_client, viewer } = server.world
    const [{ access_token: token }] = await server.control('POST', '/tokens', {
      client_id: client.id,
      user_id: viewer.id,
      scopes: [],
    })
    const key = (changes: Ask) => server.call({ path: '/helix/streams/key', token, ...changes })
    for (let n = 0; n < 5; n++) expect((await key({})).status).toBe(401)
    expectLimited(await key({}))
    expectLimited(await key({ headers: { 'Client-Id': other_client.id } }))
    await drain(server, { token: client.app_token })
    expectLimited(await key({ token: client.app_token }))
  })

  limited('a token that is good for nothing costs the address, like no token', async server => {
    const answers: Answer[] = []
    for (const token of ['rubbish', server.world.client.secret, undefined, 'x', 'y']) {
      answers.push(await server.call({ path: '/helix/streams/key', token }))
    }
    expect(answers.map(answer => [answer.status, ...rateOf(answer)])).toEqual(
      [4, 3, 2, 1, 0].map(remaining => [401, 5, remaining]),
    )
    expectLimited(await server.call({ path: '/helix/streams/key', token: 'rubbish' }))
    expectLimited(await streams(server))
    expect((await streams(server, { token: server.world.viewer.token })).status).toBe(200)
  })

  limited('404 for an unknown route even with an empty bucket', async server => {
    await drain(server)
    const answer = await server.call({ path: '/helix/nothing' })
    expectFailure(answer, 404, 'Not Found')
    expect(rateOf(answer)).toEqual([5, 0])
  })

  limited('a preflight and the OAuth side cost nothing', async server => {
    const { token } = server.world.viewer
    for (let n = 0; n < 8; n++) {
      const preflight = await server.call({ method: 'OPTIONS', path: '/helix/streams' })
      expect(preflight.status).toBe(204)
      const validation = await server.call({ path: '/oauth2/validate', token })
      expect(validation.status).toBe(200)
    }
    expect(rateOf(await streams(server))).toEqual([5, 4])
    expect(rateOf(await streams(server, { token }))).toEqual([5, 4])
    await drain(server)
    expect((await server.call({ method: 'OPTIONS', path: '/helix/streams' })).status).toBe(204)
  })

  limited('a forwarded address is not believed of an untrusted peer', async server => {
    for (let n = 0; n < 5; n++) await streams(server, { headers: { 'X-Forwarded-For': `203.0.113.${n}` } })
    expectLimited(await streams(server, { headers: { 'X-Forwarded-For': '203.0.113.99' } }))
  })

  test('behind a trusted proxy each address has a separate bucket', async () => {
    const trustedProxies = new Networks()
    trustedProxies.add('127.0.0.1', 32)
    await withServer(engine, { config: { ...SMALL, trustedProxies } }, async server => {
      const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } })
      await drain(server, from('203.0.113.1'))
      expectLimited(await streams(server, from('203.0.113.1')))
      expectLimited(await streams(server, from('198.51.100.7, 203.0.113.1')))
      expect((await streams(server, from('203.0.113.2'))).status).toBe(200)
    })
  })

  test('a bucket is full again at the time of its reset header', async () => {
    const rateLimits = { app: 600, user: 600, anonymous: 600 }
    await withServer(engine, { config: { rateLimits } }, async server => {
      // All at once: ten points come back every second.
      const answers = await Promise.all(Array.from({ length: 10 }, () => streams(server)))
      const resets = answers.map(({ headers }) => Number(headers.get('ratelimit-reset')))
      expect(Math.min(...answers.map(answer => rateOf(answer)[1] ?? 600))).toBeLessThan(598)
      await Bun.sleep(Math.max(...resets) * 1000 - Date.now())
      expect(rateOf(await streams(server))).toEqual([600, 599])
    })
  })
})
