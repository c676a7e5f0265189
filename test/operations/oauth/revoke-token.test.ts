import { expect } from 'bun:test'
import { mintSecret } from '../../../src/auth/tokens.ts'
import { revokeToken } from '../../../src/contract/oauth/revoke-token.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'

const ask = (server: TestServer, changes: Ask) => send(server, revokeToken, changes)

async function mint(server: TestServer, client_id = server.world.client.id) {
  const [tokens] = await server.control('POST', '/tokens', {
    client_id,
    user_id: server.world.viewer.id,
    scopes: ['user:read:follows'],
  })
  return tokens as { access_token: string; refresh_token: string }
}

const valid = async (server: TestServer): Promise<Ask> => ({
  body: { client_id: server.world.client.id, token: (await mint(server)).access_token },
})

async function isGood(server: TestServer, token: string): Promise<boolean> {
  return (await server.call({ path: '/oauth2/validate', token })).status === 200
}

/** Some libraries take any byte of a body here for an error. */
function expectEmpty(answer: Answer): void {
  expect([answer.status, answer.text]).toEqual([200, ''])
}

async function withMessage(message: string, answer: Promise<Answer>): Promise<Answer> {
  expect((await answer).body.message).toBe(message)
  return answer
}

describeOperation(revokeToken, { valid }, ({ ok, fails }) => {
  ok('ends the token at once and answers with an empty body', async server => {
    const { client, viewer } = server.world
    const { access_token } = await mint(server)
    expect(await isGood(server, access_token)).toBe(true)
    expectEmpty(await ask(server, { body: { client_id: client.id, token: access_token } }))
    expect(await isGood(server, access_token)).toBe(false)
    const followed = await server.call({
      path: '/helix/streams/followed',
      query: { user_id: viewer.id },
      token: access_token,
    })
    expect(followed.status).toBe(401)
  })

  ok('takes its parameters from the query string, a form and a JSON body', async server => {
    const client_id = server.world.client.id
    const places: ((fields: Record<string, string>) => Ask)[] = [
      fields => ({ query: fields }),
      fields => ({
        rawBody: new URLSearchParams(fields).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }),
      fields => ({ body: fields }),
      ({ client_id = '', token }) => ({ query: { client_id }, body: { token } }),
    ]
    for (const place of places) {
      const { access_token } = await mint(server)
      expectEmpty(await ask(server, place({ client_id, token: access_token })))
      expect(await isGood(server, access_token)).toBe(false)
    }
  })

  ok('ends an app token, under /auth too', async server => {
    const { client } = server.world
    const [{ access_token }] = await server.control('POST', '/tokens', { client_id: client.id })
    const body = { client_id: client.id, token: access_token }
    expectEmpty(await ask(server, { path: '/auth/revoke', body }))
    expect(await isGood(server, access_token)).toBe(false)
  })

  ok('a refresh token takes what came from it along', async server => {
    const { id, secret } = server.world.client
    const tokens = await mint(server)
    const { body } = await server.call({
      method: 'POST',
      path: '/oauth2/token',
      body: {
        grant_type: 'refresh_token',
        client_id: id,
        client_secret: secret,
        refresh_token: tokens.refresh_token,
      },
    })
    expectEmpty(await ask(server, { body: { client_id: id, token: tokens.refresh_token } }))
    expect(await isGood(server, tokens.access_token)).toBe(false)
    expect(await isGood(server, body.access_token)).toBe(false)
  })

  ok('one token ends, the others of the user and the client stay', async server => {
    const [one, other] = [await mint(server), await mint(server)]
    const client_id = server.world.client.id
    expectEmpty(await ask(server, { body: { client_id, token: one.access_token } }))
    expect(await isGood(server, other.access_token)).toBe(true)
  })

  ok('an unknown token is answered alike', async server => {
    const client_id = server.world.client.id
    for (const token of ['nonsense', mintSecret('user'), mintSecret('refresh')]) {
      expectEmpty(await ask(server, { body: { client_id, token } }))
    }
  })

  ok('a token revoked before is answered alike', async server => {
    const request = await valid(server)
    expectEmpty(await ask(server, request))
    expectEmpty(await ask(server, request))
  })

  ok('the token of another client is answered alike and stays valid', async server => {
    const { client, other_client } = server.world
    const tokens = await mint(server, other_client.id)
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expectEmpty(await ask(server, { body: { client_id: client.id, token } }))
    }
    expect(await isGood(server, tokens.access_token)).toBe(true)
  })

  ok('a refresh token that has run out takes nothing along', async server => {
    const [{ id }] = await server.control('POST', '/clients', { name: 'Phone app', kind: 'public' })
    const first = await mint(server, id)
    await server.control('POST', '/clock', { advance_seconds: 29 * 24 * 3600 })
    const refreshed = await server.call({
      method: 'POST',
      path: '/oauth2/token',
      body: { grant_type: 'refresh_token', client_id: id, refresh_token: first.refresh_token },
    })
    await server.control('POST', '/clock', { advance_seconds: 2 * 24 * 3600 })
    const { body } = await server.call({
      method: 'POST',
      path: '/oauth2/token',
      body: { grant_type: 'refresh_token', client_id: id, refresh_token: refreshed.body.refresh_token },
    })
    expectEmpty(await ask(server, { body: { client_id: id, token: first.refresh_token } }))
    expect(await isGood(server, body.access_token)).toBe(true)
  })

  fails('missing_client_id', 'without client_id', async server =>
    ask(server, { body: { token: (await mint(server)).access_token } }),
  )
  fails('invalid_revoking_client', 'when the client is unknown', async server => {
    const { access_token } = await mint(server)
    const answer = ask(server, { body: { client_id: 'invalid-client-id', token: access_token } })
    await withMessage('Invalid client_id: invalid-client-id', answer)
    expect(await isGood(server, access_token)).toBe(true)
    return answer
  })
  for (const [title, token] of [
    ['without a token', undefined],
    ['with an empty token', ''],
  ] as const) {
    fails('missing_oauth_token', title, server =>
      withMessage('missing oauth token', ask(server, { body: { client_id: server.world.client.id, token } })),
    )
  }
  fails('missing_oauth_token', 'with the token in the Authorization header alone', server => {
    const { client } = server.world
    const answer = ask(server, { query: { client_id: client.id }, token: client.app_token })
    return withMessage('missing oauth token', answer)
  })
  fails('repeated_parameter', 'when token comes twice', server =>
    ask(server, { query: { client_id: server.world.client.id, token: ['a', 'b'] } }),
  )
})
