import { expect } from 'bun:test'
import { createOpenidToken } from '../../../src/contract/oauth/create-openid-token.ts'
import {
  CALLBACK,
  challengeOf,
  codeFor,
  loggedIn,
  register,
  verifier,
} from '../../support/browser/consent.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

type Fields = Record<string, string | undefined>
interface Credentials {
  readonly id: string
  readonly secret?: string
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const ask = (server: TestServer, body: Fields, changes: Ask = {}) =>
  send(server, createOpenidToken, { body, ...changes })
const appGrant = ({ world }: TestServer): Fields => ({
  grant_type: 'client_credentials',
  client_id: world.client.id,
  client_secret: world.client.secret,
})
const of = ({ id, secret }: Credentials): Fields => ({ client_id: id, client_secret: secret })
const valid = (server: TestServer): Ask => ({ body: appGrant(server) })
const basic = (credentials: string): Ask => ({
  headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
})

const redeem = (server: TestServer, application: Credentials, code: string, changes: Fields = {}) =>
  ask(server, {
    grant_type: 'authorization_code',
    ...of(application),
    code,
    redirect_uri: CALLBACK,
    ...changes,
  })

async function deviceOf(server: TestServer, decision: 'deny' | undefined) {
  const application = await register(server, { kind: 'public' })
  const query = { client_id: application.id, scopes: 'user:read:follows' }
  const { body } = await server.call({ method: 'POST', path: '/oauth2/device', query })
  if (decision !== undefined) {
    const person = await loggedIn(server)
    await person.browse(`/activate?device-code=${body.user_code}`)
    await person.submit('/activate', { decision })
  }
  const grant = { grant_type: DEVICE_GRANT, client_id: application.id, device_code: body.device_code }
  return { application, grant }
}

/** The answer, which has this error code. */
async function coded(error: string, asked: Promise<Answer>): Promise<Answer> {
  const { body } = await asked
  expect([body.error, body.error_description]).toEqual([error, body.message])
  return asked
}

describeOperation(createOpenidToken, { valid }, ({ ok, fails }) => {
  ok('lists scopes as one string, where the other token endpoint has an array', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    const { body } = await redeem(server, application, code)
    expect(body.scope).toBe('user:read:follows chat:read')
    expect(Object.keys(body).sort()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ])
  })
  ok('takes credentials as Basic, form-encoded or not, with or without client_id', async server => {
    const { id, secret } = server.world.client
    for (const text of [`${id}:${secret}`, `${id.replace('i', '%69')}:${secret}`]) {
      for (const client_id of [undefined, id]) {
        const answer = await ask(server, { grant_type: 'client_credentials', client_id }, basic(text))
        expect([answer.status, answer.body.scope]).toEqual([200, undefined])
      }
    }
  })

  fails('malformed_basic', 'when it is not base64', server =>
    coded(
      'invalid_request',
      ask(server, { grant_type: 'client_credentials' }, { headers: { Authorization: 'Basic ???' } }),
    ),
  )
  for (const text of ['no colon', ':secret', 'id:%FF', 'id:%zz', 'a\0:b'])
    fails('malformed_basic', `when it is ${JSON.stringify(text)}`, server =>
      ask(server, { grant_type: 'client_credentials' }, basic(text)),
    )
  fails('two_credentials', 'when the secret comes as a parameter too', server => {
    const { id, secret } = server.world.client
    return ask(server, appGrant(server), basic(`${id}:${secret}`))
  })
  fails('two_credentials', 'when the parameter names another client', server => {
    const { client, other_client } = server.world
    const fields = { grant_type: 'client_credentials', client_id: other_client.id }
    return ask(server, fields, basic(`${client.id}:${client.secret}`))
  })

  const simple: [Parameters<typeof fails>[0], string, string, (server: TestServer) => Fields][] = [
    ['missing_grant_type', 'invalid_request', 'without grant_type', () => ({})],
    [
      'unsupported_grant_type',
      'unsupported_grant_type',
      'of the password grant',
      () => ({ grant_type: 'password' }),
    ],
    [
      'missing_client_id',
      'invalid_request',
      'without client_id',
      () => ({ grant_type: 'client_credentials' }),
    ],
    [
      'invalid_client',
      'invalid_client',
      'of an unknown client',
      server => ({ ...appGrant(server), client_id: 'x' }),
    ],
    [
      'missing_client_secret',
      'invalid_client',
      'without the secret',
      server => ({ ...appGrant(server), client_secret: undefined }),
    ],
    [
      'invalid_client_secret',
      'invalid_client',
      'with a wrong secret',
      ({ world }) => ({
        grant_type: 'client_credentials',
        client_id: world.other_client.id,
        client_secret: world.client.secret,
      }),
    ],
    [
      'missing_code',
      'invalid_request',
      'without a code',
      server => ({ ...appGrant(server), grant_type: 'authorization_code' }),
    ],
    [
      'invalid_code',
      'invalid_grant',
      'with an invented code',
      server => ({ ...appGrant(server), grant_type: 'authorization_code', code: 'x' }),
    ],
    [
      'missing_device_code',
      'invalid_request',
      'without a device code',
      server => ({ ...appGrant(server), grant_type: DEVICE_GRANT }),
    ],
    [
      'invalid_device_code',
      'expired_token',
      'with an invented device code',
      server => ({ ...appGrant(server), grant_type: DEVICE_GRANT, device_code: 'x' }),
    ],
    [
      'missing_refresh_token',
      'invalid_request',
      'without a refresh token',
      server => ({ ...appGrant(server), grant_type: 'refresh_token' }),
    ],
    [
      'invalid_refresh_token',
      'invalid_grant',
      'with an invented refresh token',
      server => ({ ...appGrant(server), grant_type: 'refresh_token', refresh_token: 'x' }),
    ],
    [
      'too_many_scopes',
      'invalid_scope',
      'with 51 scopes',
      server => ({
        ...appGrant(server),
        scope: Array.from({ length: 51 }, (_, n) => 'x'.repeat(n + 1)).join(' '),
      }),
    ],
  ]
  for (const [name, error, title, fields] of simple)
    fails(name, title, server => coded(error, ask(server, fields(server))))

  fails('invalid_scope', 'when a malformed scope comes with a refresh token', async server => {
    const { client, viewer } = server.world
    const grant = { client_id: client.id, user_id: viewer.id, scopes: ['chat:read'] }
    const [{ refresh_token }] = await server.control('POST', '/tokens', grant)
    const fields = { ...appGrant(server), grant_type: 'refresh_token', refresh_token, scope: 'A B' }
    return coded('invalid_scope', ask(server, fields))
  })
  fails('repeated_parameter', 'when grant_type differs in query and body', server =>
    coded('invalid_request', ask(server, appGrant(server), { query: { grant_type: 'refresh_token' } })),
  )
  fails('public_client', 'when a public client asks for an app token', async server => {
    const { id } = await register(server, { kind: 'public' })
    return coded('unauthorized_client', ask(server, { grant_type: 'client_credentials', client_id: id }))
  })
  fails('other_redirect', 'with another redirect URI', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    return coded('invalid_grant', redeem(server, application, code, { redirect_uri: `${CALLBACK}/` }))
  })
  fails('wrong_verifier', 'with another verifier', async server => {
    const application = await register(server, { kind: 'public' })
    const proof = { code_challenge: challengeOf(verifier()), code_challenge_method: 'S256' }
    const code = await codeFor(server, application, proof)
    return coded('invalid_grant', redeem(server, application, code, { code_verifier: verifier() }))
  })
  fails('too_many_attempts', 'after ten wrong secrets as Basic', async server => {
    const { id } = await register(server)
    const guess = () => ask(server, { grant_type: 'client_credentials' }, basic(`${id}:wrong`))
    for (let n = 0; n < 10; n++) expect((await guess()).status).toBe(403)
    return coded('invalid_client', guess())
  })
  fails('authorization_pending', 'until a user decides', async server => {
    const { grant } = await deviceOf(server, undefined)
    return coded('authorization_pending', ask(server, grant))
  })
  fails('access_denied', 'when the person denied it', async server => {
    const { grant } = await deviceOf(server, 'deny')
    return coded('access_denied', ask(server, grant))
  })
  fails('slow_down', 'when a code is asked for far too often', async server => {
    const { grant } = await deviceOf(server, undefined)
    let last: Answer | undefined
    for (let n = 0; n < 200 && last?.status !== 429; n++) last = await ask(server, grant)
    return coded('slow_down', Promise.resolve(last as Answer))
  })
  fails('device_flow_off', 'when the flow was switched off meanwhile', async server => {
    const { application, grant } = await deviceOf(server, undefined)
    await server.control('PATCH', `/clients/${application.id}`, { device_flow: false })
    return coded('unauthorized_client', ask(server, grant))
  })
})
