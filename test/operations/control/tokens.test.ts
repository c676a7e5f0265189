import { expect } from 'bun:test'
import { mintSecret } from '../../../src/auth/tokens.ts'
import { endToken, issueToken } from '../../../src/contract/control/tokens.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, isGoodToken, naming, newUser } from './operator.ts'

const issue = (server: TestServer, body: object) => send(server, issueToken, asOperator(server, { body }))
const end = (server: TestServer, token: string) =>
  send(server, endToken, asOperator(server, { body: { token } }))
const forViewer = ({ world }: TestServer) => ({ client_id: world.client.id, user_id: world.viewer.id })
const validate = async (server: TestServer, token: string) =>
  (await server.call({ path: '/oauth2/validate', token })).body

async function refreshed(server: TestServer, refresh_token: string): Promise<boolean> {
  const { id, secret } = server.world.client
  const answer = await server.call({
    method: 'POST',
    path: '/oauth2/token',
    body: { grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token },
  })
  return answer.status === 200
}

describeOperation(
  issueToken,
  { valid: server => asOperator(server, { body: forViewer(server) }) },
  ({ ok, fails }) => {
    ok('a user token comes with a refresh token and its scopes', async server => {
      const scopes = ['user:read:follows', 'chat:read']
      const { body } = await issue(server, { ...forViewer(server), scopes })
      expect(body.data).toEqual([
        {
          access_token: expect.stringMatching(/^susr_[A-Za-z0-9]{38}$/),
          refresh_token: expect.stringMatching(/^sref_[A-Za-z0-9]{38}$/),
          expires_in: 4 * 3600,
          scope: scopes,
          token_type: 'bearer',
        },
      ])
      const [{ access_token, refresh_token }] = body.data
      expect(await validate(server, access_token)).toMatchObject({
        client_id: server.world.client.id,
        user_id: server.world.viewer.id,
        scopes,
      })
      expect(await refreshed(server, refresh_token)).toBe(true)
    })

    ok('without a user it is an app token, and has no refresh token', async server => {
      const { body } = await issue(server, { client_id: server.world.client.id })
      const [token] = body.data
      expect(token).toMatchObject({ expires_in: 60 * 24 * 3600, token_type: 'bearer' })
      expect(token).not.toHaveProperty('refresh_token')
      expect(await validate(server, token.access_token)).not.toHaveProperty('user_id')
    })

    ok('without a user an empty list of scopes asks for nothing', async server => {
      const { status } = await issue(server, { client_id: server.world.client.id, scopes: [] })
      expect(status).toBe(200)
    })

    fails('refused_reference', 'when scopes are asked for without a user', async server => {
      const answer = await issue(server, { client_id: server.world.client.id, scopes: ['chat:read'] })
      expect(answer.body.message).toBe(
        'An app token has no scopes: leave "scopes" out, or name the user in "user_id".',
      )
      return answer
    })

    ok('expires_in is obeyed, for users and apps', async server => {
      for (const owner of [forViewer(server), { client_id: server.world.client.id }]) {
        const { body } = await issue(server, { ...owner, expires_in: 100 })
        const [{ access_token, expires_in }] = body.data
        expect(expires_in).toBe(100)
        expect(await isGoodToken(server, access_token)).toBe(true)
        await server.control('POST', '/clock', { advance_seconds: 101 })
        expect(await isGoodToken(server, access_token)).toBe(false)
      }
    })

    ok('a user token may have no scopes, and one asked for twice is granted once', async server => {
      const none = await issue(server, forViewer(server))
      expect(none.body.data[0].scope).toEqual([])
      const twice = await issue(server, { ...forViewer(server), scopes: ['bits:read', 'bits:read'] })
      expect(twice.body.data[0].scope).toEqual(['bits:read'])
    })

    ok('a public client can be given a token', async server => {
      const [client] = await server.control('POST', '/clients', { name: 'Phone app', kind: 'public' })
      const { body } = await issue(server, { ...forViewer(server), client_id: client.id })
      expect((await validate(server, body.data[0].access_token)).client_id).toBe(client.id)
    })

    ok('tokens are nowhere in the log', async server => {
      const { body } = await issue(server, forViewer(server))
      const [{ access_token, refresh_token }] = body.data
      for (const secret of [access_token, refresh_token]) {
        expect(server.logLines.filter(line => line.includes(secret))).toEqual([])
      }
    })

    fails('unknown_reference', 'when the client does not exist', server =>
      naming('unknown', issue(server, { ...forViewer(server), client_id: 'unknown' })),
    )
    fails('unknown_reference', 'when the user does not exist', server =>
      naming('999', issue(server, { ...forViewer(server), user_id: '999' })),
    )
    fails('user_suspended', 'when the user is suspended', async server => {
      const user = await newUser(server)
      await server.control('PUT', `/users/${user.id}/suspension`, {})
      return naming(user.login, issue(server, { ...forViewer(server), user_id: user.id }))
    })
    for (const scope of ['Not-A-Scope', '', 'a b', 'user:', ':read']) {
      fails('invalid_scope', `when a scope is "${scope}"`, async server => {
        const answer = await issue(server, { ...forViewer(server), scopes: ['chat:read', scope] })
        expect(answer.body.message).toBe(`invalid scope requested: '${scope}'`)
        return answer
      })
    }
    fails('too_many_scopes', 'with 51', server => {
      const scopes = Array.from({ length: 51 }, (_, n) => `chat:${'x'.repeat(n + 1)}`)
      return issue(server, { ...forViewer(server), scopes })
    })
    for (const expires_in of [0, -1, 1.5, 315_360_001]) {
      fails('malformed_parameter', `when expires_in is ${expires_in}`, server =>
        issue(server, { ...forViewer(server), expires_in }),
      )
    }
    fails('malformed_parameter', 'when there are 101 scopes', server =>
      issue(server, { ...forViewer(server), scopes: Array(101).fill('chat:read') }),
    )
  },
)

describeOperation(
  endToken,
  {
    valid: async server => {
      const [{ access_token }] = await server.control('POST', '/tokens', forViewer(server))
      return asOperator(server, { body: { token: access_token } })
    },
  },
  ({ ok, fails }) => {
    ok('an access token ends at once', async server => {
      const [{ access_token }] = await server.control('POST', '/tokens', forViewer(server))
      expect(await isGoodToken(server, access_token)).toBe(true)
      expectEmpty(await end(server, access_token))
      expect(await isGoodToken(server, access_token)).toBe(false)
      expect((await server.call({ path: '/helix/streams', token: access_token })).status).toBe(401)
    })

    ok('an app token ends, of whichever client', async server => {
      const [{ access_token }] = await server.control('POST', '/tokens', {
        client_id: server.world.other_client.id,
      })
      expectEmpty(await end(server, access_token))
      expect(await isGoodToken(server, access_token)).toBe(false)
    })

    ok('a refresh token takes its access tokens along', async server => {
      const [tokens] = await server.control('POST', '/tokens', forViewer(server))
      expectEmpty(await end(server, tokens.refresh_token))
      expect(await refreshed(server, tokens.refresh_token)).toBe(false)
      expect(await isGoodToken(server, tokens.access_token)).toBe(false)
    })

    fails('token_not_found', 'when it is unknown', server => end(server, mintSecret('user')))
    fails('token_not_found', 'when it is no token of ours, of which nothing is repeated', async server => {
      const answer = await end(server, 'something-secret')
      expect(answer.body.message).toBe('There is no such token; it may have expired or been revoked.')
      return answer
    })
    fails('token_not_found', 'the second time', async server => {
      const [{ access_token }] = await server.control('POST', '/tokens', forViewer(server))
      await end(server, access_token)
      return end(server, access_token)
    })
    fails('malformed_parameter', 'when it is empty', server => end(server, ''))
  },
)
