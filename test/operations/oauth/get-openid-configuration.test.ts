import { expect } from 'bun:test'
import { oauthOperations } from '../../../src/contract/index.ts'
import { getOpenidConfiguration } from '../../../src/contract/oauth/get-openid-configuration.ts'
import { PAGES } from '../../../src/site/pages.ts'
import { describeOperation, send } from '../../support/operation.ts'

const valid = () => ({})

describeOperation(getOpenidConfiguration, { valid }, ({ ok }) => {
  ok('names the issuer, and endpoints that exist', async server => {
    const { body } = await send(server, getOpenidConfiguration, {})
    expect(body.issuer).toBe(`${server.url}/oauth2`)
    const paths = new Set([...Object.values(oauthOperations).map(each => each.path), ...Object.keys(PAGES)])
    const endpoints = Object.entries<string>(body).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name))
    expect(endpoints).toHaveLength(6)
    for (const [name, url] of endpoints) {
      expect(url).toStartWith(`${server.url}/`)
      expect([name, paths.has(new URL(url).pathname)]).toEqual([name, true])
    }
  })

  ok('is the same under /auth, and may be cached for five minutes', async server => {
    const answer = await send(server, getOpenidConfiguration, {})
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    const other = await server.call({ path: '/auth/.well-known/openid-configuration' })
    expect(other.body).toEqual(answer.body)
  })

  ok('has what holds for every provider that has no more than this', async server => {
    const { body } = await send(server, getOpenidConfiguration, {})
    expect(body).toMatchObject({
      response_types_supported: ['code', 'token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      request_uri_parameter_supported: false,
    })
    expect(body.scopes_supported).toContain('openid')
  })
})
