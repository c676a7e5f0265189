import { expect } from 'bun:test'
import { getUserInfo } from '../../../src/contract/oauth/get-user-info.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { Ask, TestServer } from '../../support/server.ts'

async function tokenWith(server: TestServer, scopes: readonly string[]): Promise<string> {
  const { client, viewer } = server.world
  const [tokens] = await server.control('POST', '/tokens', {
    client_id: client.id,
    user_id: viewer.id,
    scopes,
  })
  return tokens.access_token
}

const valid = async (server: TestServer): Promise<Ask> => ({ token: await tokenWith(server, ['openid']) })
const ask = (server: TestServer, changes: Ask) => send(server, getUserInfo, changes)

describeOperation(getUserInfo, { valid }, ({ ok, fails }) => {
  ok('shows whose token it is', async server => {
    const { client, viewer, users } = server.world
    const answer = await ask(server, await valid(server))
    const user = await server.control('GET', `/users/${viewer.id}`)
    expect(users.some(each => each.id === viewer.id)).toBe(true)
    expect(answer.body).toEqual({
      sub: viewer.id,
      iss: `${server.url}/oauth2`,
      aud: client.id,
      azp: client.id,
      exp: expect.any(Number),
      iat: expect.any(Number),
      preferred_username: user[0].display_name,
    })
    expect(answer.body.exp - answer.body.iat).toBeWithin(4 * 3600 - 60, 4 * 3600 + 1)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  fails('missing_authorization', 'without a token', server => ask(server, {}))
  fails('invalid_access_token', 'with a token that was never issued', server =>
    ask(server, { token: server.world.client.secret }),
  )
  fails('invalid_access_token', 'with a token that was revoked', async server => {
    const token = await tokenWith(server, ['openid'])
    await server.control('DELETE', '/tokens', { token })
    return ask(server, { token })
  })
  fails('scope_missing', 'with a user token without openid', async server => {
    const answer = await ask(server, { token: await tokenWith(server, ['user:read:follows']) })
    expect(answer.body.message).toBe('Missing scope: openid')
    return answer
  })
  fails('scope_missing', 'with an app token', server => ask(server, { token: server.world.client.app_token }))
})
