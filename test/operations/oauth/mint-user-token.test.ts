import { expect, test } from 'bun:test'
import { mintUserToken } from '../../../src/contract/oauth/mint-user-token.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { type Answer, type Ask, engines, startTestServer, type TestServer } from '../../support/server.ts'

type Fields = Record<string, string>

const ask = (server: TestServer, changes: Ask) => send(server, mintUserToken, changes)
const grant = ({ world }: TestServer): Fields => ({
  grant_type: 'user_token',
  client_id: world.client.id,
  client_secret: world.client.secret,
  user_id: world.viewer.id,
  scope: 'user:read:follows chat:read',
})
const valid = (server: TestServer): Ask => ({ body: grant(server) })
const change = (server: TestServer, changes: Record<string, unknown>) =>
  ask(server, { body: { ...grant(server), ...changes } })

async function withMessage(message: string, answer: Promise<Answer>): Promise<Answer> {
  expect((await answer).body.message).toBe(message)
  return answer
}

describeOperation(mintUserToken, { valid }, ({ ok, fails }) => {
  fails('too_many_attempts', 'after ten wrong secrets', async server => {
    const [{ id }] = await server.control('POST', '/clients', { name: 'Guessed at' })
    const guess = () => change(server, { client_id: id, client_secret: 'wrong' })
    for (let n = 0; n < 10; n++) await guess()
    return guess()
  })

  ok('answers as for a code: refresh token and an array of scopes', async server => {
    const answer = await ask(server, valid(server))
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^susr_[A-Za-z0-9]{38}$/),
      expires_in: 4 * 3600,
      refresh_token: expect.stringMatching(/^sref_[A-Za-z0-9]{38}$/),
      scope: ['user:read:follows', 'chat:read'],
      token_type: 'bearer',
    })
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  ok('the token opens what its scopes open, and nothing else', async server => {
    const { viewer } = server.world
    const { access_token: token } = (await ask(server, valid(server))).body
    const query = { user_id: viewer.id, broadcaster_id: viewer.id }
    expect((await server.call({ path: '/helix/streams/followed', query, token })).status).toBe(200)
    expect((await server.call({ path: '/helix/streams/key', query, token })).status).toBe(401)
  })

  ok('the refresh token works', async server => {
    const { id, secret } = server.world.client
    const { refresh_token } = (await ask(server, valid(server))).body
    const answer = await server.call({
      method: 'POST',
      path: '/oauth2/token',
      query: { grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token },
    })
    expect(answer.status).toBe(200)
  })

  ok('takes its parameters from the query string, a form and a JSON body, under /auth too', async server => {
    const fields = grant(server)
    const form = {
      rawBody: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    }
    for (const request of [{ query: fields }, form, { body: fields }]) {
      expect((await ask(server, request)).body.scope).toEqual(['user:read:follows', 'chat:read'])
    }
    expect((await ask(server, { ...valid(server), path: '/auth/authorize' })).status).toBe(200)
  })

  ok('any well-formed scope may be asked for; one asked for twice is granted once', async server => {
    const answer = await change(server, { scope: 'bits:read  bits:read made:up:of_words' })
    expect(answer.body.scope).toEqual(['bits:read', 'made:up:of_words'])
  })

  ok('without a scope, or with an empty one, it has none', async server => {
    for (const scope of [undefined, '']) {
      expect((await change(server, { scope })).body.scope).toEqual([])
    }
  })

  ok('a public client needs no secret', async server => {
    const [client] = await server.control('POST', '/clients', { name: 'Phone app', kind: 'public' })
    const answer = await change(server, { client_id: client.id, client_secret: undefined })
    expect(answer.status).toBe(200)
  })

  fails('missing_grant_type', 'without grant_type', server => change(server, { grant_type: undefined }))
  fails('unsupported_grant_type', 'with a grant that belongs to /token', server =>
    change(server, { grant_type: 'client_credentials' }),
  )
  fails('missing_client_id', 'without client_id', server => change(server, { client_id: undefined }))
  fails('invalid_client', 'when the client is unknown', server =>
    withMessage('invalid client', change(server, { client_id: 'unknown' })),
  )
  fails('missing_client_secret', 'without client_secret', server =>
    withMessage('missing client secret', change(server, { client_secret: undefined })),
  )
  fails('invalid_client_secret', 'with the secret of another client', server =>
    withMessage('invalid client secret', change(server, { client_secret: server.world.other_client.secret })),
  )
  fails('missing_user_id', 'without user_id', server => change(server, { user_id: undefined }))
  fails('unknown_user', 'when the user does not exist', async server => {
    const answer = change(server, { user_id: '999' })
    expect((await answer).body.message).toContain('999')
    return answer
  })
  fails('invalid_scope', 'when one of the scopes is malformed', server =>
    withMessage(
      "invalid scope requested: 'Not-A-Scope'",
      change(server, { scope: 'user:read:follows Not-A-Scope' }),
    ),
  )
  fails('too_many_scopes', 'with 51', server =>
    change(server, { scope: Array.from({ length: 51 }, (_, n) => `chat:${'x'.repeat(n + 1)}`).join(' ') }),
  )
  fails('repeated_parameter', 'when user_id comes twice', server =>
    ask(server, { query: { ...grant(server), user_id: ['1', '2'] } }),
  )
})

for (const engine of engines) {
  test(`404 MintUserToken is absent outside demo mode on ${engine}`, async () => {
    const server = await startTestServer(engine, { demo: false })
    try {
      for (const path of ['/oauth2/authorize', '/auth/authorize']) {
        const answer = await ask(server, { ...valid(server), path })
        expect([answer.status, answer.problem]).toEqual([404, 'route_unknown'])
        expect(Object.keys(answer.body).sort()).toEqual(['message', 'status'])
      }
    } finally {
      await server.stop()
    }
  })
}
