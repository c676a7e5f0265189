import { expect } from 'bun:test'
import { validateToken } from '../../../src/contract/oauth/validate-token.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

const ask = (server: TestServer, changes: Ask = {}) => send(server, validateToken, changes)
const withHeader = (server: TestServer, Authorization: string) => ask(server, { headers: { Authorization } })
const valid = ({ world }: TestServer): Ask => ({ token: world.broadcaster.token })

async function mint(server: TestServer, more: object = {}) {
  const { client, viewer } = server.world
  const [tokens] = await server.control('POST', '/tokens', {
    client_id: client.id,
    user_id: viewer.id,
    scopes: ['user:read:follows'],
    ...more,
  })
  return tokens as { access_token: string; refresh_token: string }
}

/** The answer to a bad token. */
async function refused(answer: Promise<Answer>): Promise<Answer> {
  const { body } = await answer
  expect(body).toEqual({ status: 401, message: 'invalid access token' })
  return answer
}

async function missing(answer: Promise<Answer>): Promise<Answer> {
  const { body } = await answer
  expect(body).toEqual({ status: 401, message: 'missing authorization token' })
  return answer
}

describeOperation(validateToken, { valid }, ({ ok, fails }) => {
  ok('shows client, login, scopes, user and seconds left of a user token', async server => {
    const { client, viewer, users } = server.world
    const { access_token } = await mint(server)
    const answer = await ask(server, { token: access_token })
    expect(answer.body).toEqual({
      client_id: client.id,
      login: users.find(user => user.id === viewer.id)?.login,
      scopes: ['user:read:follows'],
      user_id: viewer.id,
      expires_in: expect.any(Number),
    })
    expect(answer.body.expires_in).toBeWithin(4 * 3600 - 60, 4 * 3600 + 1)
    expect(Number.isInteger(answer.body.expires_in)).toBe(true)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  ok('an app token has neither login nor user_id', async server => {
    const { client } = server.world
    const answer = await ask(server, { token: client.app_token })
    expect(Object.keys(answer.body).sort()).toEqual(['client_id', 'expires_in', 'scopes'])
    expect([answer.body.client_id, answer.body.scopes]).toEqual([client.id, []])
  })

  ok('takes OAuth and Bearer, in any case, under /auth too', async server => {
    const { token } = server.world.broadcaster
    for (const scheme of ['OAuth', 'Bearer', 'oauth', 'BEARER']) {
      expect((await withHeader(server, `${scheme} ${token}`)).status).toBe(200)
    }
    expect((await ask(server, { ...valid(server), path: '/auth/validate' })).status).toBe(200)
  })

  ok('counts the seconds down', async server => {
    const { access_token } = await mint(server, { expires_in: 1000 })
    await server.control('POST', '/clock', { advance_seconds: 400 })
    const answer = await ask(server, { token: access_token })
    expect(answer.body.expires_in).toBeWithin(540, 601)
  })

  ok('is outside the buckets', async server => {
    const answer = await ask(server, valid(server))
    expect(answer.headers.has('ratelimit-limit')).toBe(false)
  })

  ok('shows a new login at once', async server => {
    const [user] = await server.control('POST', '/users', { login: 'before_marriage' })
    const { access_token } = await mint(server, { user_id: user.id })
    await server.control('PUT', `/users/${user.id}`, { login: 'after_marriage' })
    expect((await ask(server, { token: access_token })).body.login).toBe('after_marriage')
  })

  fails('missing_authorization', 'without a token', server => missing(ask(server)))
  fails('missing_authorization', 'with the token in the query string', server =>
    missing(ask(server, { query: { access_token: server.world.broadcaster.token } })),
  )
  fails('missing_authorization', 'with a Client-Id alone', server =>
    missing(ask(server, { headers: { 'Client-Id': server.world.client.id } })),
  )
  for (const header of ['Bearer', 'nonsense', 'Bearer a b', 'OAuth nonsense', 'Basic YTpi']) {
    fails('invalid_access_token', `with the header "${header}"`, server =>
      refused(withHeader(server, header)),
    )
  }
  fails('invalid_access_token', 'when a letter is wrong', server => {
    const { token } = server.world.broadcaster
    return refused(ask(server, { token: token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A') }))
  })
  fails('invalid_access_token', 'when it is a client secret', server =>
    refused(ask(server, { token: server.world.client.secret })),
  )
  fails('invalid_access_token', 'when it is the operator token', server =>
    refused(ask(server, { token: server.world.operator_token })),
  )
  fails('invalid_access_token', 'when it is a refresh token', async server =>
    refused(ask(server, { token: (await mint(server)).refresh_token })),
  )
  fails('invalid_access_token', 'when it has expired', async server => {
    const { access_token } = await mint(server, { expires_in: 1 })
    await server.control('POST', '/clock', { advance_seconds: 2 })
    return refused(ask(server, { token: access_token }))
  })
  fails('invalid_access_token', 'when it was revoked', async server => {
    const { access_token } = await mint(server)
    expect((await ask(server, { token: access_token })).status).toBe(200)
    await server.control('DELETE', '/tokens', { token: access_token })
    return refused(ask(server, { token: access_token }))
  })
  fails('invalid_access_token', 'when its user was deleted', async server => {
    const [user] = await server.control('POST', '/users', { login: 'soon_gone' })
    const { access_token } = await mint(server, { user_id: user.id })
    await server.control('DELETE', `/users/${user.id}`)
    return refused(ask(server, { token: access_token }))
  })
  fails('invalid_access_token', 'when its client was deleted', async server => {
    const [client] = await server.control('POST', '/clients', { name: 'Soon gone' })
    const { access_token } = await mint(server, { client_id: client.id })
    await server.control('DELETE', `/clients/${client.id}`)
    return refused(ask(server, { token: access_token }))
  })
})
