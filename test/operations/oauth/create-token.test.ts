import { expect } from 'bun:test'
import { createToken } from '../../../src/contract/oauth/create-token.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

type Fields = Record<string, string>

const DAY = 24 * 3600

const ask = (server: TestServer, changes: Ask) => send(server, createToken, changes)
const appGrant = ({ world }: TestServer): Fields => ({
  grant_type: 'client_credentials',
  client_id: world.client.id,
  client_secret: world.client.secret,
})
const valid = (server: TestServer): Ask => ({ body: appGrant(server) })
const form = (fields: Fields): Ask => ({
  rawBody: new URLSearchParams(fields).toString(),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
})
/** The three places that parameters may come in. */
const everywhere = (fields: Fields): Ask[] => [{ query: fields }, form(fields), { body: fields }]

async function saying(message: string, answer: Promise<Answer>): Promise<Answer> {
  expect((await answer).body.message).toBe(message)
  return answer
}

async function validate(server: TestServer, token: string): Promise<Answer> {
  return server.call({ path: '/oauth2/validate', token })
}

interface Holder {
  readonly credentials: Fields
  readonly access_token: string
  readonly refresh_token: string
}

async function userOf(server: TestServer, credentials: Fields): Promise<Holder> {
  const [tokens] = await server.control('POST', '/tokens', {
    client_id: credentials.client_id,
    user_id: server.world.viewer.id,
    scopes: ['user:read:follows', 'chat:read'],
  })
  return { credentials, ...tokens }
}

/** A user of the demo's client, which has a secret. */
const confidentialUser = (server: TestServer) => {
  const { id, secret } = server.world.client
  return userOf(server, { client_id: id, client_secret: secret })
}

/** A user of a new public client, which has none. */
async function publicUser(server: TestServer): Promise<Holder> {
  const [client] = await server.control('POST', '/clients', { name: 'Phone app', kind: 'public' })
  return userOf(server, { client_id: client.id })
}

const refreshGrant = ({ credentials }: Holder, refresh_token: string): Fields => ({
  grant_type: 'refresh_token',
  ...credentials,
  refresh_token,
})
const refresh = (server: TestServer, holder: Holder, token = holder.refresh_token) =>
  ask(server, { body: refreshGrant(holder, token) })

describeOperation(createToken, { valid }, ({ ok, fails }) => {
  ok('an app token comes for 60 days, without refresh_token and scope', async server => {
    const answer = await ask(server, valid(server))
    const { access_token } = answer.body
    expect(answer.body).toEqual({ access_token, expires_in: 60 * DAY, token_type: 'bearer' })
    expect(access_token).toMatch(/^sapp_[A-Za-z0-9]{38}$/)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.has('ratelimit-limit')).toBe(false)
    const drops = await server.call({ path: '/helix/entitlements/drops', token: access_token })
    expect(drops.status).toBe(200)
  })

  ok('takes its parameters from the query string, a form and a JSON body', async server => {
    for (const request of everywhere(appGrant(server))) {
      expect((await ask(server, request)).body.token_type).toBe('bearer')
    }
  })

  ok('takes some parameters from the query and others from the body', async server => {
    const { client_secret = '', ...rest } = appGrant(server)
    for (const body of [form({ client_secret }), { body: { client_secret } }]) {
      expect((await ask(server, { ...body, query: rest })).status).toBe(200)
    }
  })

  ok('a parameter may come twice if both say the same', async server => {
    const answer = await ask(server, { ...valid(server), query: { grant_type: 'client_credentials' } })
    expect(answer.status).toBe(200)
  })

  ok('an empty body of application/octet-stream with scope= is what one library sends', async server => {
    const answer = await ask(server, {
      query: appGrant(server),
      search: 'scope=',
      rawBody: '',
      headers: { 'Content-Type': 'application/octet-stream' },
    })
    expect(Object.keys(answer.body).sort()).toEqual(['access_token', 'expires_in', 'token_type'])
  })

  ok('a scope is tolerated and gives an app token nothing', async server => {
    const answer = await ask(server, { body: { ...appGrant(server), scope: 'user:read:follows' } })
    expect(answer.body.scope).toBeUndefined()
    expect((await validate(server, answer.body.access_token)).body.scopes).toEqual([])
  })

  ok('any Authorization header is ignored, an expired one too', async server => {
    const [{ access_token }] = await server.control('POST', '/tokens', {
      client_id: server.world.client.id,
      expires_in: 1,
    })
    await server.control('POST', '/clock', { advance_seconds: 2 })
    for (const Authorization of [`Bearer ${access_token}`, 'Bearer nonsense', 'Basic YTpi']) {
      const headers = { Authorization, 'Client-Id': 'another' }
      expect((await ask(server, { ...valid(server), headers })).status).toBe(200)
    }
  })

  ok('answers under /auth too', async server => {
    expect((await ask(server, { ...valid(server), path: '/auth/token' })).status).toBe(200)
  })

  ok('a confidential client refreshes and keeps its refresh token', async server => {
    const holder = await confidentialUser(server)
    const answer = await refresh(server, holder)
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^susr_[A-Za-z0-9]{38}$/),
      expires_in: 4 * 3600,
      refresh_token: holder.refresh_token,
      scope: ['user:read:follows', 'chat:read'],
      token_type: 'bearer',
    })
    expect(answer.body.access_token).not.toBe(holder.access_token)
    const validation = await validate(server, answer.body.access_token)
    expect(validation.body.user_id).toBe(server.world.viewer.id)
    expect(validation.body.scopes).toEqual(['user:read:follows', 'chat:read'])
    expect((await refresh(server, holder)).status).toBe(200)
  })

  ok('refreshes by query string, form and JSON body, whatever Authorization says', async server => {
    const holder = await confidentialUser(server)
    await server.control('DELETE', '/tokens', { token: holder.access_token })
    for (const request of everywhere(refreshGrant(holder, holder.refresh_token))) {
      const headers = { ...request.headers, Authorization: `Bearer ${holder.access_token}` }
      expect((await ask(server, { ...request, headers })).status).toBe(200)
    }
  })

  ok('a public client refreshes without a secret and gets a new refresh token each time', async server => {
    const holder = await publicUser(server)
    const seen = new Set([holder.refresh_token])
    let current = holder.refresh_token
    for (const turn of [1, 2, 3]) {
      const answer = await refresh(server, holder, current)
      expect(answer.body.refresh_token).toMatch(/^sref_[A-Za-z0-9]{38}$/)
      current = answer.body.refresh_token
      expect(seen.add(current).size).toBe(turn + 1)
      expect((await validate(server, answer.body.access_token)).status).toBe(200)
    }
  })

  ok('of two refreshes at once with a single-use token one succeeds', async server => {
    const holder = await publicUser(server)
    const answers = await Promise.all([refresh(server, holder), refresh(server, holder)])
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 400])
  })

  ok("a confidential client's refresh token outlives the 30 days of a public one's", async server => {
    const holder = await confidentialUser(server)
    await server.control('POST', '/clock', { advance_seconds: 31 * DAY })
    expect((await refresh(server, holder)).status).toBe(200)
  })

  fails('missing_grant_type', 'without grant_type', server =>
    ask(server, { body: { ...appGrant(server), grant_type: undefined } }),
  )
  fails('missing_grant_type', 'with an empty one', server =>
    ask(server, { body: { ...appGrant(server), grant_type: '' } }),
  )
  fails('unsupported_grant_type', 'with the password grant', server =>
    ask(server, { body: { ...appGrant(server), grant_type: 'password' } }),
  )
  fails('unsupported_grant_type', 'with the grant that belongs to /authorize', server =>
    ask(server, { body: { ...appGrant(server), grant_type: 'user_token', user_id: server.world.viewer.id } }),
  )
  fails('missing_client_id', 'without client_id', server =>
    ask(server, { body: { ...appGrant(server), client_id: undefined } }),
  )
  fails('invalid_client', 'when the client is unknown', server =>
    saying('invalid client', ask(server, { body: { ...appGrant(server), client_id: 'nobody' } })),
  )
  fails('invalid_client', 'when the client is unknown, on refresh', async server => {
    const { refresh_token } = await confidentialUser(server)
    const holder = { credentials: { client_id: 'nobody' }, access_token: '', refresh_token }
    return saying('invalid client', refresh(server, holder))
  })
  for (const [title, client_secret] of [
    ['without client_secret', undefined],
    ['with an empty client_secret', ''],
  ] as const) {
    fails('missing_client_secret', title, server =>
      saying('missing client secret', ask(server, { body: { ...appGrant(server), client_secret } })),
    )
  }
  fails('missing_client_secret', 'on refresh by a confidential client', async server => {
    const holder = await confidentialUser(server)
    const credentials = { client_id: server.world.client.id }
    return saying('missing client secret', refresh(server, { ...holder, credentials }))
  })
  fails('invalid_client_secret', 'with the secret of another client', server => {
    const body = { ...appGrant(server), client_secret: server.world.other_client.secret }
    return saying('invalid client secret', ask(server, { body }))
  })
  fails('invalid_client_secret', 'with the wrong secret, on refresh', async server => {
    const holder = await confidentialUser(server)
    const credentials = { ...holder.credentials, client_secret: 'wrong' }
    return saying('invalid client secret', refresh(server, { ...holder, credentials }))
  })
  fails('public_client', 'when a public client asks for an app token', async server => {
    const { credentials } = await publicUser(server)
    return ask(server, { body: { grant_type: 'client_credentials', ...credentials } })
  })
  for (const [title, refresh_token] of [
    ['without refresh_token', undefined],
    ['with an empty refresh_token', ''],
  ] as const) {
    fails('missing_refresh_token', title, server => {
      const body = { ...appGrant(server), grant_type: 'refresh_token', refresh_token }
      return saying('missing refresh token', ask(server, { body }))
    })
  }
  fails('invalid_refresh_token', 'when it is no token of ours', async server =>
    saying('Invalid refresh token', refresh(server, await confidentialUser(server), 'nonsense')),
  )
  fails('invalid_refresh_token', 'when it is an access token', async server => {
    const holder = await confidentialUser(server)
    return saying('Invalid refresh token', refresh(server, holder, holder.access_token))
  })
  fails('invalid_refresh_token', 'of another client, where it stays good', async server => {
    const holder = await confidentialUser(server)
    const { id, secret } = server.world.other_client
    const thief = { ...holder, credentials: { client_id: id, client_secret: secret } }
    const answer = refresh(server, thief)
    await answer
    expect((await refresh(server, holder)).status).toBe(200)
    return saying('Invalid refresh token', answer)
  })
  fails('invalid_refresh_token', 'when it was revoked', async server => {
    const holder = await confidentialUser(server)
    await server.control('DELETE', '/tokens', { token: holder.refresh_token })
    return saying('Invalid refresh token', refresh(server, holder))
  })
  fails(
    'invalid_refresh_token',
    'when a public client uses it again, which ends the family',
    async server => {
      const holder = await publicUser(server)
      const { body } = await refresh(server, holder)
      const reuse = refresh(server, holder)
      await reuse
      expect((await refresh(server, holder, body.refresh_token)).status).toBe(400)
      for (const token of [holder.access_token, body.access_token]) {
        expect((await validate(server, token)).status).toBe(401)
      }
      return saying('Invalid refresh token', reuse)
    },
  )
  fails('invalid_refresh_token', "when a public client's is older than 30 days", async server => {
    const holder = await publicUser(server)
    await server.control('POST', '/clock', { advance_seconds: 30 * DAY + 1 })
    return saying('Invalid refresh token', refresh(server, holder))
  })
  fails('repeated_parameter', 'when client_id comes twice in the query', server =>
    ask(server, { query: { ...appGrant(server), client_id: ['a', 'b'] } }),
  )
  fails('repeated_parameter', 'when query and body disagree', server =>
    ask(server, { ...valid(server), query: { client_id: 'another' } }),
  )
  fails('repeated_parameter', 'when query and form disagree', server =>
    ask(server, { ...form(appGrant(server)), query: { client_id: 'another' } }),
  )
  fails('invalid_scope', 'when a refresh asks for a malformed scope', async server => {
    const { client, viewer } = server.world
    const [{ refresh_token }] = await server.control('POST', '/tokens', {
      client_id: client.id,
      user_id: viewer.id,
    })
    const body = {
      grant_type: 'refresh_token',
      client_id: client.id,
      client_secret: client.secret,
      refresh_token,
      scope: 'No!',
    }
    return send(server, createToken, { body })
  })
  fails('malformed_query', 'when a form is not UTF-8', server =>
    ask(server, { ...form(appGrant(server)), rawBody: 'grant_type=%FF' }),
  )
})
