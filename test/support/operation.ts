/**
 * The frame of an operation's test file. It runs the file's proofs on both stores, adds those that follow from the
 * declaration alone (tokens, scopes, malformed input, faults), and fails if a declared problem is left without a proof.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  familyOf,
  hasBucket,
  listProblems,
  type Operation,
  queryParameters,
} from '../../src/contract/operation.ts'
import { type ProblemName, problems, reasonPhrases } from '../../src/contract/problem.ts'
import { OPENID, SCOPES } from '../../src/contract/scope.ts'
import {
  type Answer,
  type Ask,
  type EngineName,
  engines,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from './server.ts'

type Proof = (server: TestServer) => Promise<void>
type FailingCall = (server: TestServer) => Promise<Answer>

export interface Frame {
  /** A request that succeeds, made again each time so that proofs do not disturb one another. */
  readonly valid: (server: TestServer) => Ask | Promise<Ask>
  readonly server?: TestServerOptions
}

export interface Proofs {
  /** A success; the title states what holds. */
  ok(title: string, proof: Proof): void
  /** A call that ends in this problem, and in no other of the same status. */
  fails(problem: ProblemName, title: string, call: FailingCall): void
}

/**
 * The servers that the operations of one file share, one for each store: starting one takes longer than most proofs. A
 * file whose proofs disturb one another names a separate `server`, even `{}`.
 */
class SharedServers {
  readonly #started = new Map<EngineName, Promise<TestServer>>()

  /** Stops them at the end of the file. */
  stopAtEnd(): void {
    afterAll(async () => {
      const started = [...this.#started.values()]
      this.#started.clear()
      for (const server of started) await (await server).stop()
    })
  }

  shared(engine: EngineName): Promise<TestServer> {
    const started = this.#started.get(engine) ?? startTestServer(engine)
    this.#started.set(engine, started)
    return started
  }
}
const servers = new SharedServers()

/** The success status and title of a test name: `200 lists newest first`, `404 when the channel is not live`. */
export function describeOperation(operation: Operation, frame: Frame, body: (proofs: Proofs) => void): void {
  const oks: [string, Proof][] = []
  const fails: [ProblemName, string, FailingCall][] = []
  body({
    ok: (title, proof) => oks.push([title, proof]),
    fails: (problem, title, call) => fails.push([problem, title, call]),
  })
  for (const [name, title, call] of impliedFailures(operation, frame)) fails.push([name, title, call])

  if (frame.server === undefined) servers.stopAtEnd()
  for (const engine of engines) {
    describe(`${operation.id} on ${engine}`, () => {
      let server: TestServer
      beforeAll(async () => {
        server = await (frame.server === undefined
          ? servers.shared(engine)
          : startTestServer(engine, frame.server))
      })
      afterAll(() => (frame.server === undefined ? undefined : server.stop()))

      test(`${operation.status ?? 200} the example request of this file succeeds`, async () => {
        const answer = await send(server, operation, await frame.valid(server))
        expect(answer.text.slice(0, 300)).not.toContain('"error"')
        expect(answer.status).toBe(operation.status ?? 200)
        expectCommonHeaders(operation, answer)
      })
      for (const [title, proof] of oks) test(`${operation.status ?? 200} ${title}`, () => proof(server))
      for (const [name, title, call] of fails) {
        test(`${problems[name].status} ${name} ${title}`, async () =>
          expectProblem(operation, await call(server), name))
      }
    })
  }

  test(`${operation.id}: every declared problem is proved`, () => {
    const proved = new Set(fails.map(([name]) => name))
    expect([...listProblems(operation)].filter(name => !proved.has(name))).toEqual([])
    expect([...proved].filter(name => !listProblems(operation).has(name))).toEqual([])
    expect(oks.length).toBeGreaterThan(0)
  })
}

/** Calls the operation, with the placeholders of its path taken from `ask.path` if that is given. */
export function send(server: TestServer, operation: Operation, ask: Ask): Promise<Answer> {
  return server.call({ method: operation.method, path: operation.path, ...ask })
}

/** Calls again, as a caller does, while the store has too much to do: many calls at once on a busy machine. */
export async function retryWhileUnavailable(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await call()
    if (answer.problem !== 'unavailable') return answer
    await Bun.sleep(Number(answer.headers.get('retry-after')) * 1000)
  }
}

/** The whole shape of a failure, not only its status. */
export function expectProblem(operation: Operation, answer: Answer, name: ProblemName): void {
  const { status } = problems[name]
  expect({ status: answer.status, problem: answer.problem }).toEqual({ status, problem: name })
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(Object.keys(answer.body).sort()).toEqual(failureFields(operation, name))
  expect(answer.body.status).toBe(status)
  if (familyOf(operation) !== 'oauth') expect(answer.body.error).toBe(reasonPhrases[status])
  expect(answer.body.message.length).toBeGreaterThan(5)
  if (name === 'rate_limited') expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe(CHALLENGES[name] ?? null)
  expectCommonHeaders(operation, answer)
}

/** What a 401 asks for, by its problem. Others ask for nothing: another token of the same kind would not help. */
const CHALLENGES: Partial<Record<ProblemName, string>> = {
  token_missing: 'OAuth realm="Strand"',
  token_invalid: 'OAuth realm="Strand", error="invalid_token"',
  missing_authorization: 'OAuth realm="Strand"',
  invalid_access_token: 'OAuth realm="Strand", error="invalid_token"',
  operator_required: 'Bearer realm="Strand operator"',
  operator_invalid: 'Bearer realm="Strand operator", error="invalid_token"',
}
const RATE_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/** Request id, rates and CORS, which every answer of an operation has, whatever its status. */
function expectCommonHeaders(operation: Operation, { headers }: Answer): void {
  const family = familyOf(operation)
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
  for (const name of RATE_HEADERS)
    expect([name, headers.get(name) ?? '']).toEqual([
      name,
      expect.stringMatching(hasBucket(family) ? /^[0-9]+$/ : /^$/),
    ])
  // Pages of other origins may use everything but the control API, without credentials.
  expect(headers.get('access-control-allow-origin')).toBe(family === 'control' ? null : '*')
  const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? []
  expect(exposed.includes('x-request-id')).toBe(family !== 'control')
  for (const name of ['access-control-allow-credentials', 'set-cookie']) expect(headers.has(name)).toBe(false)
}

function failureFields(operation: Operation, name: ProblemName): string[] {
  if (name === 'subscription_exists') return ['error', 'id', 'message', 'status']
  if (operation.standardErrors) return ['error', 'error_description', 'message', 'status']
  return familyOf(operation) === 'oauth' ? ['message', 'status'] : ['error', 'message', 'status']
}

type Implied = [ProblemName, string, FailingCall]

/** What the declaration alone lets us break. */
function impliedFailures(operation: Operation, { valid }: Frame): Implied[] {
  const names = listProblems(operation)
  const implied: Implied[] = []
  const add = (
    name: ProblemName,
    title: string,
    change: (ask: Ask, server: TestServer) => Ask | Promise<Ask>,
  ) => {
    if (!names.has(name)) return
    implied.push([
      name,
      title,
      async server => send(server, operation, await change(await valid(server), server)),
    ])
  }

  add('operator_required', 'without the operator token', ({ token: _, ...ask }) => ask)
  add('operator_invalid', 'with another token', (ask, { world }) => ({
    ...ask,
    token: world.client.app_token,
  }))
  add('token_missing', 'without a token', ({ token: _, ...ask }) => ask)
  add('token_missing', 'with a Client-Id and no token', ({ token: _, ...ask }, { world }) => ({
    ...ask,
    headers: { 'Client-Id': world.client.id },
  }))
  add('token_invalid', 'with a malformed token', ask => ({ ...ask, token: 'not-a-token' }))
  add('token_invalid', 'with another scheme', ({ token, ...ask }, { world }) => ({
    ...ask,
    headers: { Authorization: `OAuth ${token ?? world.client.app_token}` },
  }))
  add('token_invalid', 'with a token that was never issued', (ask, { world }) => ({
    ...ask,
    token: world.client.secret,
  }))
  add('token_invalid', 'with a revoked token', async (ask, server) => {
    const [{ access_token }] = await server.control('POST', '/tokens', tokenFor(server))
    await server.control('DELETE', '/tokens', { token: access_token })
    return { ...ask, token: access_token }
  })
  add('token_invalid', 'with an expired token', async (ask, server) => {
    const [{ access_token }] = await server.control('POST', '/tokens', { ...tokenFor(server), expires_in: 1 })
    await server.control('POST', '/clock', { advance_seconds: 2 })
    return { ...ask, token: access_token }
  })
  add('token_invalid', 'with a refresh token', async (ask, server) => {
    const [{ refresh_token }] = await server.control('POST', '/tokens', tokenFor(server))
    return { ...ask, token: refresh_token }
  })
  add('client_mismatch', 'with the Client-Id of another client', (ask, { world }) => ({
    ...ask,
    token: ask.token ?? world.client.app_token,
    headers: { ...ask.headers, 'Client-Id': world.other_client.id },
  }))
  add('user_token_required', 'with an app token', (ask, { world }) => ({
    ...ask,
    token: world.client.app_token,
  }))
  add('scope_missing', 'with a user token without the scope', async (ask, server) => {
    const [{ access_token }] = await server.control('POST', '/tokens', {
      ...tokenFor(server),
      scopes: ['chat:read'],
    })
    return { ...ask, token: access_token }
  })
  const { access } = operation
  const needed: readonly string[] = access.kind === 'token' ? access.scopes : []
  if (needed.length > 0)
    implied.push([
      'scope_missing',
      'with a user token that has every other scope, naming the one that is missing',
      async server => {
        const scopes = [...SCOPES, OPENID].filter(scope => !needed.includes(scope))
        const [{ access_token }] = await server.control('POST', '/tokens', { ...tokenFor(server), scopes })
        const answer = await send(server, operation, { ...(await valid(server)), token: access_token })
        expect(answer.body.message).toBe(`Missing scope: ${needed[0]}`)
        return answer
      },
    ])
  /** Directly: the control API plans faults for operations of clients only, and this frame tests all. */
  const plan = ({ strand }: TestServer, outcome: 'rate_limited' | 'unavailable') =>
    strand.services.demo?.faults.plan({ operation: operation.id, outcome })
  add('rate_limited', 'when the bucket is planned to be empty', async (ask, server) => {
    plan(server, 'rate_limited')
    return ask
  })
  add('too_many_requests', 'when the limit is planned to be reached', async (ask, server) => {
    plan(server, 'rate_limited')
    return ask
  })
  add('unavailable', 'when the store cannot be reached', async (ask, server) => {
    plan(server, 'unavailable')
    return ask
  })
  add('malformed_query', 'when the query is not UTF-8', ask => ({ ...ask, search: 'x=%FF' }))
  add('malformed_json', 'when the body is not JSON', ({ body: _, ...ask }) => ({ ...ask, rawBody: '{"a":' }))
  add('malformed_json', 'when the body is an array', ({ body: _, ...ask }) => ({ ...ask, rawBody: '[]' }))
  add('malformed_json', 'when the body is not UTF-8', ({ body: _, ...ask }) => ({
    ...ask,
    rawBody: Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
  }))
  add('body_too_large', 'when the body is larger than allowed', ({ body: _, ...ask }) => ({
    ...ask,
    rawBody: `{"a":"${'x'.repeat(familyOf(operation) === 'control' ? 4 * 1024 * 1024 : 64 * 1024)}"}`,
  }))
  add('invalid_cursor', 'with an invented cursor', ask => ({
    ...ask,
    query: { ...ask.query, after: 'AAAA' },
  }))
  add('both_cursors', 'with after and before', ask => ({
    ...ask,
    query: { ...ask.query, after: 'a', before: 'b' },
  }))
  add('bad_idempotency_key', 'with an empty key', ask => ({
    ...ask,
    headers: { ...ask.headers, 'Idempotency-Key': '' },
  }))
  add('bad_idempotency_key', 'with a key of 256 characters', ask => ({
    ...ask,
    headers: { ...ask.headers, 'Idempotency-Key': 'k'.repeat(256) },
  }))

  for (const name of Object.keys(operation.params?.properties ?? {})) {
    add('malformed_parameter', `when ${name} in the path contains U+0000`, ask => ({
      ...ask,
      path: withSegment(operation.path, ask.path ?? '', name, 'a%00b'),
    }))
  }
  const query = queryParameters(operation)
  const scalar = Object.entries(query.properties).find(([, schema]) => !('items' in schema))?.[0]
  if (scalar !== undefined) {
    add('repeated_parameter', `when ${scalar} is given twice`, ask => ({
      ...ask,
      query: { ...ask.query, [scalar]: ['1', '2'] },
    }))
  }
  const queryText = Object.entries(query.properties).find(([, schema]) => textual(schema))?.[0]
  if (queryText !== undefined) {
    add('malformed_parameter', `when ${queryText} contains U+0000`, ask => ({
      ...ask,
      query: { ...ask.query, [queryText]: 'a\0b' },
    }))
  }
  for (const name of query.required ?? []) {
    add('missing_parameter', `without ${name}`, ask => ({
      ...ask,
      query: { ...ask.query, [name]: undefined },
    }))
    add('missing_parameter', `with an empty ${name}`, ask => ({
      ...ask,
      query: { ...ask.query, [name]: '' },
    }))
  }
  for (const name of operation.body?.required ?? []) {
    add('missing_parameter', `without ${name}`, ask => ({
      ...ask,
      body: { ...(ask.body as object), [name]: undefined },
    }))
  }
  for (const [name, schema] of Object.entries(operation.body?.properties ?? {})) {
    add('malformed_parameter', `when ${name} is of another type`, ask => ({
      ...ask,
      body: { ...(ask.body as object), [name]: wrongTypeFor(schema) },
    }))
  }
  for (const [name, schema] of Object.entries(operation.body?.properties ?? {})) {
    if (!textual(schema)) continue
    for (const [kind, bad] of [
      ['U+0000', 'a\0b'],
      ['a lone surrogate', 'a\ud800b'],
    ] as const) {
      add('malformed_parameter', `when ${name} contains ${kind}`, ask => ({
        ...ask,
        body: { ...(ask.body as object), [name]: bad },
      }))
    }
  }
  return implied
}

function tokenFor({ world }: TestServer) {
  return { client_id: world.client.id, user_id: world.broadcaster.id, scopes: world.users[0]?.scopes }
}

/** The path with the segment of one placeholder replaced. */
function withSegment(pattern: string, path: string, name: string, value: string): string {
  const at = pattern.split('/').indexOf(`{${name}}`)
  return path
    .split('/')
    .map((segment, index) => (index === at ? value : segment))
    .join('/')
}

function textual(schema: object): boolean {
  return (schema as { type?: string }).type === 'string'
}

function wrongTypeFor(schema: object): unknown {
  return (schema as { type?: string }).type === 'boolean' ? 'yes' : true
}
