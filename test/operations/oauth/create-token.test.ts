import { expect } from 'bun:test'
import { mintSecret } from '../../../src/auth/tokens.ts'
import { createToken } from '../../../src/contract/oauth/create-token.ts'
import { challengeOf, codeFor, loggedIn, redeem, register, verifier } from '../../support/browser/consent.ts'
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

async function withMessage(message: string, answer: Promise<Answer>): Promise<Answer> {
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

  ok('a parameter may come twice with the same value', async server => {
    for (const request of [valid(server), form(appGrant(server))]) {
      const answer = await ask(server, { ...request, query: { grant_type: 'client_credentials' } })
      expect(answer.status).toBe(200)
    }
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

  ok('refreshes by query string, form and JSON body, whatever Authorization has', async server => {
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
    withMessage('invalid client', ask(server, { body: { ...appGrant(server), client_id: 'unknown' } })),
  )
  fails('invalid_client', 'when the client is unknown, on refresh', async server => {
    const { refresh_token } = await confidentialUser(server)
    const holder = { credentials: { client_id: 'unknown' }, access_token: '', refresh_token }
    return withMessage('invalid client', refresh(server, holder))
  })
  for (const [title, client_secret] of [
    ['without client_secret', undefined],
    ['with an empty client_secret', ''],
  ] as const) {
    fails('missing_client_secret', title, server =>
      withMessage('missing client secret', ask(server, { body: { ...appGrant(server), client_secret } })),
    )
  }
  fails('missing_client_secret', 'on refresh by a confidential client', async server => {
    const holder = await confidentialUser(server)
    const credentials = { client_id: server.world.client.id }
    return withMessage('missing client secret', refresh(server, { ...holder, credentials }))
  })
  fails('invalid_client_secret', 'with the secret of another client', server => {
    const body = { ...appGrant(server), client_secret: server.world.other_client.secret }
    return withMessage('invalid client secret', ask(server, { body }))
  })
  fails('invalid_client_secret', 'with the wrong secret, on refresh', async server => {
    const holder = await confidentialUser(server)
    const credentials = { ...holder.credentials, client_secret: 'wrong' }
    return withMessage('invalid client secret', refresh(server, { ...holder, credentials }))
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
      return withMessage('missing refresh token', ask(server, { body }))
    })
  }
  fails('invalid_refresh_token', 'when it is no token of ours', async server =>
    withMessage('Invalid refresh token', refresh(server, await confidentialUser(server), 'nonsense')),
  )
  fails('invalid_refresh_token', 'when it is an access token', async server => {
    const holder = await confidentialUser(server)
    return withMessage('Invalid refresh token', refresh(server, holder, holder.access_token))
  })
  fails('invalid_refresh_token', 'of another client, where it stays good', async server => {
    const holder = await confidentialUser(server)
    const { id, secret } = server.world.other_client
    const thief = { ...holder, credentials: { client_id: id, client_secret: secret } }
    const answer = refresh(server, thief)
    await answer
    expect((await refresh(server, holder)).status).toBe(200)
    return withMessage('Invalid refresh token', answer)
  })
  fails('invalid_refresh_token', 'when it was revoked', async server => {
    const holder = await confidentialUser(server)
    await server.control('DELETE', '/tokens', { token: holder.refresh_token })
    return withMessage('Invalid refresh token', refresh(server, holder))
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
      return withMessage('Invalid refresh token', reuse)
    },
  )
  fails('invalid_refresh_token', "when a public client's is older than 30 days", async server => {
    const holder = await publicUser(server)
    await server.control('POST', '/clock', { advance_seconds: 30 * DAY + 1 })
    return withMessage('Invalid refresh token', refresh(server, holder))
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

  ok('a code gives a confidential client its tokens', async server => {
    const application = await register(server)
    const answer = await redeem(server, application, await codeFor(server, application))
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^susr_[A-Za-z0-9]{38}$/),
      expires_in: 4 * 3600,
      refresh_token: expect.stringMatching(/^sref_[A-Za-z0-9]{38}$/),
      scope: ['user:read:follows', 'chat:read'],
      token_type: 'bearer',
    })
    const { body } = await validate(server, answer.body.access_token)
    expect(body.user_id).toBe(server.world.broadcaster.id)
    const holder = { credentials: credentialsOf(application), ...answer.body }
    expect((await refresh(server, holder)).body.refresh_token).toBe(answer.body.refresh_token)
  })

  ok('a code is redeemed by query string, form and JSON body', async server => {
    const application = await register(server)
    for (const way of [0, 1, 2]) {
      const fields = {
        grant_type: 'authorization_code',
        ...credentialsOf(application),
        code: await codeFor(server, application),
        redirect_uri: 'http://localhost:3000/callback',
      }
      expect((await ask(server, everywhere(fields)[way] ?? {})).status).toBe(200)
    }
  })

  ok('a public client redeems with its verifier and without a secret', async server => {
    const application = await register(server, { kind: 'public' })
    const code_verifier = verifier()
    const code = await codeFor(server, application, proving(code_verifier))
    const answer = await redeem(server, application, code, { code_verifier })
    expect(answer.status).toBe(200)
    const refreshed = await refresh(server, { credentials: { client_id: application.id }, ...answer.body })
    expect(refreshed.body.refresh_token).not.toBe(answer.body.refresh_token)
  })

  ok("a program on a user's machine takes the port that is free", async server => {
    const application = await register(server, { kind: 'public', redirect_uris: ['http://127.0.0.1/done'] })
    const code_verifier = verifier()
    const redirect_uri = 'http://127.0.0.1:49152/done'
    const code = await codeFor(server, application, { ...proving(code_verifier), redirect_uri })
    expect((await redeem(server, application, code, { code_verifier, redirect_uri })).status).toBe(200)
  })

  ok('of two that redeem a code at once one succeeds, and it keeps nothing', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    const answers = await Promise.all([redeem(server, application, code), redeem(server, application, code)])
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 400])
    const won = answers.find(answer => answer.status === 200)
    expect((await validate(server, won?.body.access_token)).status).toBe(401)
  })

  fails('missing_code', 'without a code', async server =>
    withMessage('missing authorization code', redeem(server, await register(server), '')),
  )
  for (const [title, spoil] of [
    ['that is nonsense', () => 'nonsense'],
    ['with another last letter', (code: string) => code.slice(0, -1) + (code.endsWith('a') ? 'b' : 'a')],
    ['that was never issued', () => mintSecret('code')],
  ] as const) {
    fails('invalid_code', `with a code ${title}`, async server => {
      const application = await register(server)
      const code = spoil(await codeFor(server, application))
      return withMessage('Invalid authorization code', redeem(server, application, code))
    })
  }
  fails('invalid_code', 'after a minute', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    await server.control('POST', '/clock', { advance_seconds: 61 })
    return withMessage('Invalid authorization code', redeem(server, application, code))
  })
  fails('invalid_code', 'of another client, where it stays good', async server => {
    const [application, thief] = [await register(server), await register(server)]
    const code = await codeFor(server, application)
    const stolen = redeem(server, thief, code)
    await stolen
    expect((await redeem(server, application, code)).status).toBe(200)
    return withMessage('Invalid authorization code', stolen)
  })
  fails('invalid_code', 'used twice, which ends what it gave and what came of that', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    const { body } = await redeem(server, application, code)
    const holder = { credentials: credentialsOf(application), ...body }
    const later = (await refresh(server, holder)).body.access_token
    const replay = redeem(server, application, code)
    await replay
    for (const token of [body.access_token, later]) expect((await validate(server, token)).status).toBe(401)
    expect((await refresh(server, holder)).status).toBe(400)
    return withMessage('Invalid authorization code', replay)
  })
  for (const [title, changes] of [
    ['without the verifier', { code_verifier: undefined }],
    ['with another verifier', { code_verifier: 'v'.repeat(43) }],
    ['with another redirect URI', { redirect_uri: 'http://localhost:3000/elsewhere' }],
    ['without a redirect URI', { redirect_uri: undefined }],
  ] as const) {
    fails('invalid_code', `of a public client, used again ${title}, which ends nothing`, async server => {
      const application = await register(server, { kind: 'public' })
      const code_verifier = verifier()
      const code = await codeFor(server, application, proving(code_verifier))
      const { body } = await redeem(server, application, code, { code_verifier })
      const replay = redeem(server, application, code, { code_verifier, ...changes })
      await replay
      expect((await validate(server, body.access_token)).status).toBe(200)
      const holder = { credentials: { client_id: application.id }, ...body }
      expect((await refresh(server, holder)).status).toBe(200)
      return withMessage('Invalid authorization code', replay)
    })
  }
  fails('invalid_code', 'of a public client, used again with its verifier, which ends all', async server => {
    const application = await register(server, { kind: 'public' })
    const code_verifier = verifier()
    const code = await codeFor(server, application, proving(code_verifier))
    const { body } = await redeem(server, application, code, { code_verifier })
    const replay = redeem(server, application, code, { code_verifier })
    await replay
    expect((await validate(server, body.access_token)).status).toBe(401)
    return withMessage('Invalid authorization code', replay)
  })
  fails(
    'missing_client_secret',
    'when a used code comes without the secret, which ends nothing',
    async server => {
      const application = await register(server)
      const code = await codeFor(server, application)
      const { body } = await redeem(server, application, code)
      const replay = redeem(server, application, code, { client_secret: undefined })
      await replay
      expect((await validate(server, body.access_token)).status).toBe(200)
      return replay
    },
  )
  fails(
    'missing_client_secret',
    'when a refresh token of a confidential client comes without the secret, which ends nothing',
    async server => {
      const holder = await confidentialUser(server)
      const { client_id = '' } = holder.credentials
      const stranger = { ...holder, credentials: { client_id } }
      const answers = [refresh(server, stranger), refresh(server, stranger)]
      await Promise.all(answers)
      expect((await validate(server, holder.access_token)).status).toBe(200)
      expect((await refresh(server, holder)).status).toBe(200)
      return answers[0] ?? refresh(server, stranger)
    },
  )
  for (const redirect_uri of [
    undefined,
    'http://localhost:3000/callback/',
    'http://localhost:3001/callback',
  ]) {
    fails('other_redirect', `with redirect_uri ${redirect_uri}; the code stays good`, async server => {
      const application = await register(server)
      const code = await codeFor(server, application)
      const answer = redeem(server, application, code, { redirect_uri })
      await answer
      expect((await redeem(server, application, code)).status).toBe(200)
      return withMessage('Parameter redirect_uri does not match registered URI', answer)
    })
  }
  for (const [title, code_verifier] of [
    ['without the verifier', undefined],
    ['with another verifier', 'v'.repeat(43)],
    ['with a malformed verifier', 'short'],
    ['with the challenge as verifier', challengeOf('v'.repeat(50))],
  ] as const) {
    fails('wrong_verifier', title, async server => {
      const application = await register(server, { kind: 'public' })
      const code = await codeFor(server, application, proving('v'.repeat(50)))
      return redeem(server, application, code, { code_verifier })
    })
  }
  fails('wrong_verifier', 'with a verifier where no challenge was sent', async server => {
    const application = await register(server)
    const code = await codeFor(server, application)
    return redeem(server, application, code, { code_verifier: verifier() })
  })
  fails(
    'missing_client_secret',
    'when a confidential client redeems a code without its secret',
    async server => {
      const application = await register(server)
      const code = await codeFor(server, application)
      return redeem(server, application, code, { client_secret: undefined })
    },
  )
  fails('too_many_attempts', 'after ten wrong secrets; the right one still works', async server => {
    const application = await register(server)
    const wrong = { grant_type: 'client_credentials', client_id: application.id, client_secret: 'wrong' }
    for (let n = 0; n < 10; n++) expect((await ask(server, { body: wrong })).status).toBe(403)
    const right = { ...wrong, client_secret: application.secret }
    expect((await ask(server, { body: right })).status).toBe(200)
    return ask(server, { body: wrong })
  })

  ok('a device that was allowed gets its tokens', async server => {
    const { application, device_code } = await deviceOf(server, 'allow')
    const answer = await redeemDevice(server, application, device_code)
    expect(answer.body).toMatchObject({
      scope: ['user:read:follows'],
      token_type: 'bearer',
      expires_in: 14_400,
    })
  })
  fails('missing_device_code', 'without one', async server =>
    redeemDevice(server, await register(server, { kind: 'public' }), ''),
  )
  fails('invalid_device_code', 'when it is unknown', async server =>
    withMessage(
      'invalid device code',
      redeemDevice(server, await register(server, { kind: 'public' }), 'x'.repeat(40)),
    ),
  )
  fails('invalid_device_code', 'after half an hour', async server => {
    const { application, device_code } = await deviceOf(server, undefined)
    await server.control('POST', '/clock', { advance_seconds: 1801 })
    return withMessage('invalid device code', redeemDevice(server, application, device_code))
  })
  fails('invalid_device_code', 'of another client', async server => {
    const { device_code } = await deviceOf(server, 'allow')
    const other = await register(server, { kind: 'public' })
    return withMessage('invalid device code', redeemDevice(server, other, device_code))
  })
  fails('authorization_pending', 'until a user decides, however fast it is asked', async server => {
    const { application, device_code } = await deviceOf(server, undefined)
    for (let n = 0; n < 20; n++) await redeemDevice(server, application, device_code)
    return withMessage('authorization_pending', redeemDevice(server, application, device_code))
  })
  fails('slow_down', 'when a code is asked for far more often than any library does', async server => {
    const [eager, patient] = [await deviceOf(server, undefined), await deviceOf(server, undefined)]
    const statuses: number[] = []
    let last: Answer | undefined
    for (let n = 0; n < 200 && last?.status !== 429; n++) {
      last = await redeemDevice(server, eager.application, eager.device_code)
      statuses.push(last.status)
    }
    // One library asks every second for half an hour; two minutes of that at once are no reason to refuse.
    expect(statuses.slice(0, 120)).toEqual(Array.from({ length: 120 }, () => 400))
    expect(Number(last?.headers.get('retry-after'))).toBe(5)
    await withMessage('authorization_pending', redeemDevice(server, patient.application, patient.device_code))
    // Half a second later it may ask again.
    return withMessage('slow_down', Promise.resolve(last as Answer))
  })
  ok('a confidential client goes through the device flow with its secret', async server => {
    const application = await register(server, { device_flow: true })
    const { device_code } = await deviceOf(server, 'allow', application)
    const answer = await redeemDevice(server, application, device_code)
    expect([answer.status, answer.body.scope]).toEqual([200, ['user:read:follows']])
  })
  ok("the demo's own client goes through the device flow with its secret", async server => {
    const { device_code } = await deviceOf(server, 'allow', server.world.client)
    expect((await redeemDevice(server, server.world.client, device_code)).status).toBe(200)
  })
  fails('missing_client_secret', 'when a device of a confidential client has none', async server => {
    const { id, secret } = await register(server, { device_flow: true })
    const { device_code } = await deviceOf(server, 'allow', { id })
    const answer = redeemDevice(server, { id }, device_code)
    await withMessage('missing client secret', answer)
    expect((await redeemDevice(server, { id, secret: secret ?? '' }, device_code)).status).toBe(200)
    return answer
  })
  fails('invalid_client_secret', 'when a device of a confidential client has another', async server => {
    const { id } = await register(server, { device_flow: true })
    const { device_code } = await deviceOf(server, 'allow', { id })
    return withMessage('invalid client secret', redeemDevice(server, { id, secret: 'wrong' }, device_code))
  })
  fails('device_flow_off', 'when the flow was switched off meanwhile', async server => {
    const { application, device_code } = await deviceOf(server, 'allow')
    await server.control('PATCH', `/clients/${application.id}`, { device_flow: false })
    return redeemDevice(server, application, device_code)
  })
  for (const [title, fields] of [
    ['with an app token', appGrant],
    ['with a device code', ({ world }: TestServer) => ({ ...deviceGrant(world.client), device_code: 'x' })],
  ] as const) {
    fails('too_many_scopes', title, server => {
      const scopes = Array.from(
        { length: 51 },
        (_, n) => `scope:${'abcdefghij'[n % 10]}_${'x'.repeat(n)}`,
      ).join(' ')
      return ask(server, { body: { ...fields(server), scope: scopes, scopes } })
    })
  }
  fails('too_many_scopes', 'with a refresh token', async server => {
    const holder = await confidentialUser(server)
    const scope = Array.from({ length: 51 }, (_, n) => `a${'b'.repeat(n)}`).join(' ')
    return ask(server, { body: { ...refreshGrant(holder, holder.refresh_token), scope } })
  })
  fails('access_denied', 'when the person denied it', async server => {
    const { application, device_code } = await deviceOf(server, 'deny')
    return withMessage('access_denied', redeemDevice(server, application, device_code))
  })
})

const proving = (code_verifier: string) => ({
  code_challenge: challengeOf(code_verifier),
  code_challenge_method: 'S256',
})

const credentialsOf = ({ id, secret = '' }: { id: string; secret?: string }): Fields => ({
  client_id: id,
  client_secret: secret,
})

/** A device that waits, or about which a user has decided. */
async function deviceOf(
  server: TestServer,
  decision: 'allow' | 'deny' | undefined,
  given?: { id: string; secret?: string },
) {
  const application = given ?? (await register(server, { kind: 'public' }))
  const { body } = await server.call({
    method: 'POST',
    path: '/oauth2/device',
    query: { client_id: application.id, scopes: 'user:read:follows' },
  })
  if (decision !== undefined) {
    const person = await loggedIn(server)
    await person.browse(`/activate?device-code=${body.user_code}`)
    await person.submit('/activate', { decision })
  }
  return { application, device_code: body.device_code as string }
}

const deviceGrant = ({ id, secret }: { id: string; secret?: string }) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
  client_id: id,
  ...(secret !== undefined && { client_secret: secret }),
})

const redeemDevice = (
  server: TestServer,
  application: { id: string; secret?: string },
  device_code: string,
) => ask(server, { body: { ...deviceGrant(application), device_code } })
