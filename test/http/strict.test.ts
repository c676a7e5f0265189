/** Strict mode: each rule of the list, lenient by default and as production with the setting. */
import { expect, test } from 'bun:test'
import { mintSecret } from '../../src/auth/tokens.ts'
import { HELIX_OPERATIONS } from '../../src/contract/helix-reference.ts'
import { HELIX_SCOPES } from '../../src/contract/helix-scopes.ts'
import { helixOperations, oauthOperations, operations } from '../../src/contract/index.ts'
import { problems } from '../../src/contract/problem.ts'
import { SCOPES } from '../../src/contract/scope.ts'
import { STRICT_RULES, strictRules } from '../../src/contract/strict.ts'
import { authorizeLink, register } from '../support/browser/consent.ts'
import { carried } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { Answer, Ask, TestServer } from '../support/server.ts'

type RuleName = keyof typeof STRICT_RULES

/** What a request answers: the status, and the message of a failure or what the proof looks at. */
type Outcome = readonly [number, unknown]
interface Proof {
  /** The requests that the rule is about; the credentials of the world are added. */
  readonly asks: (server: TestServer) => readonly Ask[]
  readonly lenient: Outcome
  readonly strict: Outcome
  /** What to compare of a success. */
  readonly seen?: (answers: readonly Answer[]) => unknown
}

const withClient = ({ world }: TestServer, ask: Ask, token = world.client.app_token): Ask => ({
  ...ask,
  token,
  headers: { 'Client-Id': world.client.id, ...ask.headers },
})
const rowsOf = (answers: readonly Answer[]) => answers.at(-1)?.body.data.length

const PROOFS: Readonly<Record<RuleName, Proof>> = {
  client_id: {
    asks: ({ world }) => [
      { path: '/helix/entitlements/drops', token: world.client.app_token },
      { path: '/helix/entitlements/drops', token: world.client.app_token, headers: { 'Client-Id': '' } },
    ],
    lenient: [200, 20],
    strict: [401, 'Client ID is missing'],
    seen: rowsOf,
  },
  token: {
    asks: ({ world }) => [
      { path: '/helix/streams' },
      { path: '/mock/streams', headers: { 'Client-Id': world.client.id } },
    ],
    lenient: [200, 12],
    strict: [401, 'OAuth token is missing'],
    seen: rowsOf,
  },
  stream_logins: {
    asks: server =>
      ['a,b', 'two words', 'ö', 'x'.repeat(26), '-1'].map(login =>
        withClient(server, {
          path: '/helix/streams',
          query: { user_login: [server.world.broadcaster.login, login] },
        }),
      ),
    lenient: [200, 1],
    strict: [400, 'Malformed query params.'],
    seen: rowsOf,
  },
  user_identifiers: {
    asks: server =>
      [
        { id: [server.world.broadcaster.id, 'x'] },
        { id: server.world.broadcaster.id, login: 'two words' },
        { login: [server.world.broadcaster.login, 'a,b'] },
      ].map(query => withClient(server, { path: '/helix/users', query })),
    lenient: [200, 1],
    strict: [400, 'Invalid username(s), email(s), or ID(s). Bad Identifiers.'],
    seen: rowsOf,
  },
  broadcaster_ids: {
    asks: server => [
      withClient(server, {
        path: '/helix/channels',
        query: { broadcaster_id: [server.world.broadcaster.id, 'x'] },
      }),
    ],
    lenient: [200, 1],
    strict: [400, 'broadcaster_id "x" must be numeric'],
    seen: rowsOf,
  },
  scopes: {
    asks: ({ world }) => [
      {
        method: 'POST',
        path: '/oauth2/authorize',
        body: {
          grant_type: 'user_token',
          client_id: world.client.id,
          client_secret: world.client.secret,
          user_id: world.broadcaster.id,
          scope: 'openid user:read:entitlements moderator:read:chatters user:red:email',
        },
      },
    ],
    lenient: [200, 'user:red:email'],
    strict: [400, "invalid scope requested: 'user:red:email'"],
    seen: answers => answers[0]?.body.scope[3],
  },
  revoked_token: {
    asks: ({ world }) =>
      ['rubbish', mintSecret('user'), mintSecret('refresh'), world.other_client.app_token].map(token => ({
        method: 'POST',
        path: '/oauth2/revoke',
        body: { client_id: world.client.id, token },
      })),
    lenient: [200, ''],
    strict: [400, 'Invalid token'],
    seen: answers => answers.map(({ text }) => text).join(''),
  },
  revoking_client: {
    asks: ({ world }) => [
      {
        method: 'POST',
        path: '/oauth2/revoke',
        body: { client_id: 'no-such-client', token: world.client.app_token },
      },
    ],
    lenient: [400, 'Invalid client_id: no-such-client'],
    strict: [404, 'client does not exist'],
  },
  idempotency_key: {
    asks: server => {
      const { broadcaster } = server.world
      const ask = {
        method: 'POST',
        path: '/helix/streams/markers',
        query: { user_id: broadcaster.id },
        headers: { 'Idempotency-Key': 'the-same' },
      } as const
      return [ask, ask].map(each => withClient(server, each, broadcaster.token))
    },
    lenient: [200, 1],
    strict: [200, 2],
    seen: answers => new Set(answers.map(({ body }) => body.data[0].id)).size,
  },
}

const isOffered = (name: RuleName) => {
  const { operation } = strictRules[Object.keys(STRICT_RULES).indexOf(name)] ?? {}
  return operation === undefined || operations.some(({ id }) => id === operation)
}
const proofs = (Object.entries(PROOFS) as [RuleName, Proof][]).filter(([name]) => isOffered(name))

async function prove(server: TestServer, { asks, seen }: Proof, [status, expected]: Outcome): Promise<void> {
  const answers: Answer[] = []
  for (const ask of asks(server)) {
    const answer = await server.call(ask)
    answers.push(answer)
    expect(answer.status).toBe(status)
    if (status !== 200) expect([answer.body.status, answer.body.message]).toEqual([status, expected])
  }
  if (status === 200) expect(seen?.(answers)).toBe(expected)
}

onEachStore('by default', {}, server => {
  for (const [name, proof] of proofs)
    test(`${proof.lenient[0]} ${name} is lenient`, () => prove(server(), proof, proof.lenient))

  test('neither the health checks nor the index mention strict mode', async () => {
    for (const path of ['/', '/healthz', '/readyz'])
      expect((await server().call({ path })).body.strict).toBeUndefined()
  })
})

onEachStore('in strict mode', { config: { strict: true } }, server => {
  for (const [name, proof] of proofs)
    test(`${proof.strict[0]} ${name} is as the real API`, () => prove(server(), proof, proof.strict))

  test('200 GetStreams with a token and its Client-Id', async () => {
    const answer = await server().call(withClient(server(), { path: '/helix/streams' }))
    expect([answer.status, answer.body.data.length]).toEqual([200, 12])
    const { login } = server().world.broadcaster
    const query = { user_login: [login.toUpperCase(), 'no_such_login'] }
    const found = await server().call(withClient(server(), { path: '/helix/streams', query }))
    expect([found.status, found.body.data.length]).toEqual([200, 1])
  })

  test('401 in the order of D-9: token, then Client-Id, then kind and scope', async () => {
    const { client, broadcaster } = server().world
    const path = '/helix/streams/key'
    const messageOf = async (ask: Ask) => {
      const answer = await server().call({ path, ...ask })
      expect(answer.status).toBe(401)
      return [answer.body.message, answer.headers.get('www-authenticate')]
    }
    expect(await messageOf({})).toEqual(['OAuth token is missing', 'OAuth realm="Strand"'])
    expect(await messageOf({ token: 'rubbish' })).toEqual([
      'Invalid OAuth token',
      'OAuth realm="Strand", error="invalid_token"',
    ])
    expect(await messageOf({ token: broadcaster.token })).toEqual(['Client ID is missing', null])
    expect(await messageOf({ token: client.app_token })).toEqual(['Client ID is missing', null])
    const other = { 'Client-Id': server().world.other_client.id }
    expect(await messageOf({ token: broadcaster.token, headers: other })).toEqual([
      'Client ID and OAuth token do not match',
      null,
    ])
  })

  test('401 without a Client-Id on every operation', async () => {
    for (const { method, path } of Object.values(helixOperations)) {
      const answer = await server().call({ method, path, token: server().world.broadcaster.token })
      expect([path, answer.status, answer.problem]).toEqual([path, 401, 'client_id_missing'])
    }
  })

  test('302 and 400 for a scope that does not exist, and for no other', async () => {
    const { id } = await register(server(), { device_flow: true })
    const askFor = (scope: string) =>
      fetch(`${server().url}${authorizeLink(id, { scope })}`, { redirect: 'manual' })
    const refused = await askFor('chat:read user:red:email')
    expect(carried(refused.headers.get('location')).get('error_description')).toBe(
      "invalid scope requested: 'user:red:email'",
    )
    for (const scopes of [HELIX_SCOPES.slice(0, 50), HELIX_SCOPES.slice(50), SCOPES])
      expect((await askFor(scopes.join(' '))).status).toBe(200)
    const deviceCode = (scopes: string) =>
      server().call({ method: 'POST', path: '/oauth2/device', body: { client_id: id, scopes } })
    expect((await deviceCode('chat_login')).problem).toBe('invalid_scope')
    expect((await deviceCode('chat:read openid')).status).toBe(200)
  })

  test('200 and then 400 for a token that is revoked twice, and 400 for one that has expired', async () => {
    const { client, viewer } = server().world
    const [{ access_token, refresh_token }] = await server().control('POST', '/tokens', {
      client_id: client.id,
      user_id: viewer.id,
      scopes: [],
    })
    const [{ access_token: expiring }] = await server().control('POST', '/tokens', {
      client_id: client.id,
      expires_in: 60,
    })
    const revoke = async (token: string, path = '/oauth2/revoke') => {
      const { status, text, problem } = await server().call({
        method: 'POST',
        path,
        query: { client_id: client.id, token },
      })
      return status === 200 ? text : problem
    }
    expect(await revoke(access_token)).toBe('')
    expect(await revoke(access_token, '/auth/revoke')).toBe('token_not_revocable')
    expect(await revoke(refresh_token)).toBe('')
    expect(await revoke(refresh_token)).toBe('token_not_revocable')
    await server().control('POST', '/clock', { advance_seconds: 61 })
    expect(await revoke(expiring)).toBe('token_not_revocable')
  })

  test('400 the token of another client stays valid', async () => {
    const { client, other_client } = server().world
    const token = other_client.app_token
    const body = { client_id: client.id, token }
    expect((await server().call({ method: 'POST', path: '/oauth2/revoke', body })).status).toBe(400)
    expect((await server().call({ path: '/oauth2/validate', token })).status).toBe(200)
  })

  test('404 an unknown path needs neither token nor Client-Id', async () => {
    expect((await server().call({ path: '/helix/clips' })).status).toBe(404)
  })

  test('200 OAuth and the control API are as before', async () => {
    const { world } = server()
    const validated = await server().call({ path: '/oauth2/validate', token: world.broadcaster.token })
    expect(validated.status).toBe(200)
    expect(await server().control('GET', '/users?first=1')).toHaveLength(1)
  })

  test('200 the health checks, the index and the reference show it', async () => {
    for (const path of ['/', '/healthz', '/readyz'])
      expect((await server().call({ path })).body.strict).toBe(true)
    const page = await (await fetch(`${server().url}/docs`)).text()
    expect(page).toContain('Strict mode')
    expect(page).toContain('Client-Id: $CLIENT_ID')
  })
})

test('the rules are about operations of Helix or OAuth, and show the status of their problem', () => {
  const names = new Set([
    ...HELIX_OPERATIONS.map(({ name }) => name.replaceAll(' ', '')),
    ...Object.values(oauthOperations).map(({ id }) => id),
  ])
  for (const { operation: id, problem, strict } of strictRules) {
    if (id !== undefined) expect(names).toContain(id)
    if (problem !== undefined) expect(strict).toContain(String(problems[problem].status))
  }
})
