/**
 * An OpenID Connect library as it comes from npm, which knows nothing of this server but its address: discovery, log-in with
 * PKCE and nonce, ID token, user info, refresh, revocation and the device flow.
 */
import { describe, expect, test } from 'bun:test'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { allow, CALLBACK, loggedIn, register, type TestApplication } from '../support/browser/consent.ts'
import type { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const SCOPE = 'openid user:read:follows'

function discover(server: TestServer, application: TestApplication, auth?: client.ClientAuth) {
  return client.discovery(new URL(`${server.url}/oauth2`), application.id, application.secret, auth, {
    execute: [client.allowInsecureRequests],
  })
}

const pathOf = (url: URL) => url.pathname + url.search

interface Login {
  readonly config: client.Configuration
  /** Where the person came back to. */
  readonly callback: URL
  readonly checks: { pkceCodeVerifier: string; expectedNonce: string; expectedState: string }
}

/** The person allows what the library asks for. */
async function comeBack(
  config: client.Configuration,
  person: Person,
  more: Record<string, string> = {},
): Promise<Login> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const [expectedNonce, expectedState] = [client.randomNonce(), client.randomState()]
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    nonce: expectedNonce,
    state: expectedState,
    ...more,
  })
  const { location } = await allow(person, pathOf(url))
  return {
    config,
    callback: new URL(location ?? ''),
    checks: { pkceCodeVerifier, expectedNonce, expectedState },
  }
}

const redeem = ({ config, callback, checks }: Login) =>
  client.authorizationCodeGrant(config, callback, { ...checks, idTokenExpected: true })

onEachStore('openid-client', {}, getServer => {
  describe('a web application', () => {
    test('logs a person in, reads who it is, refreshes and revokes', async () => {
      const server = getServer()
      const { broadcaster } = server.world
      const application = await register(server)
      const config = await discover(server, application)
      const login = await comeBack(config, await loggedIn(server))
      const tokens = await redeem(login)

      const claims = tokens.claims()
      const now = Math.floor(Date.now() / 1000)
      expect(claims).toEqual({
        iss: `${server.url}/oauth2`,
        sub: broadcaster.id,
        aud: application.id,
        azp: application.id,
        exp: expect.any(Number),
        iat: expect.any(Number),
        auth_time: expect.any(Number),
        nonce: login.checks.expectedNonce,
        at_hash: expect.any(String),
        preferred_username: expect.any(String),
      })
      expect(claims?.iat).toBeWithin(now - 60, now + 2)
      expect(claims?.auth_time).toBeWithin(now - 60, now + 2)
      expect(claims?.exp).toBe((claims?.iat ?? 0) + 3600)
      expect(tokens.scope).toBe(SCOPE)
      await jwtVerify(
        tokens.id_token ?? '',
        createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? '')),
        { issuer: `${server.url}/oauth2`, audience: application.id, algorithms: ['RS256'] },
      )

      const info = await client.fetchUserInfo(config, tokens.access_token, broadcaster.id)
      expect(info).toMatchObject({
        sub: broadcaster.id,
        aud: application.id,
        preferred_username: claims?.preferred_username,
      })
      const elsewhere = client.fetchUserInfo(config, tokens.access_token, 'another subject')
      await expect(elsewhere).rejects.toThrow('unexpected JSON attribute value encountered')

      const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
      expect([refreshed.id_token, refreshed.scope]).toEqual([undefined, SCOPE])
      expect((await client.fetchUserInfo(config, refreshed.access_token, broadcaster.id)).sub).toBe(
        broadcaster.id,
      )
      await client.tokenRevocation(config, refreshed.access_token)
      await expect(client.fetchUserInfo(config, refreshed.access_token, broadcaster.id)).rejects.toThrow()
    })

    test('sends its secret as Basic or as a parameter, and a wrong one is invalid_client', async () => {
      const server = getServer()
      const application = await register(server)
      const person = await loggedIn(server)
      for (const auth of [client.ClientSecretBasic, client.ClientSecretPost]) {
        const config = await discover(server, application, auth(application.secret))
        expect((await redeem(await comeBack(config, person))).id_token).toBeString()
        const wrong = await discover(server, application, auth(server.world.client.secret))
        await expect(redeem(await comeBack(wrong, person))).rejects.toMatchObject({ error: 'invalid_client' })
      }
    })

    test('is refused by the library with another nonce', async () => {
      const server = getServer()
      const config = await discover(server, await register(server))
      const login = await comeBack(config, await loggedIn(server))
      const checks = { ...login.checks, expectedNonce: client.randomNonce() }
      await expect(redeem({ ...login, checks })).rejects.toThrow('unexpected JWT claim value encountered')
    })

    test('gets an error that the library can read for a code that was used', async () => {
      const server = getServer()
      const config = await discover(server, await register(server))
      const login = await comeBack(config, await loggedIn(server))
      await redeem(login)
      await expect(redeem(login)).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
    })

    test('is not let in silently by prompt=none, and is without a page once it was allowed', async () => {
      const server = getServer()
      const config = await discover(server, await register(server))
      const person = await loggedIn(server)
      const asked = await comeBack(config, person, { prompt: 'none' })
      await expect(redeem(asked)).rejects.toMatchObject({ error: 'consent_required' })
      await redeem(await comeBack(config, person))
      const silent = await comeBack(config, person, { prompt: 'none' })
      expect((await redeem(silent)).id_token).toBeString()
    })
  })

  test('a public client logs in with PKCE alone', async () => {
    const server = getServer()
    const application = await register(server, { kind: 'public' })
    const config = await discover(server, application, client.None())
    const tokens = await redeem(await comeBack(config, await loggedIn(server)))
    expect(tokens.claims()?.sub).toBe(server.world.broadcaster.id)
  })

  test('a token that was altered, or signed with another key, does not verify', async () => {
    const server = getServer()
    const application = await register(server)
    const config = await discover(server, application)
    client.enableNonRepudiationChecks(config)
    const { id_token = '' } = await redeem(await comeBack(config, await loggedIn(server)))
    const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''))
    expect(decodeProtectedHeader(id_token).alg).toBe('RS256')
    expect((await jwtVerify(id_token, keys)).payload.sub).toBe(server.world.broadcaster.id)
    const [head, , signature] = id_token.split('.')
    const claims = { ...decodeJwt(id_token), sub: server.world.viewer.id }
    const forged = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
    await expect(jwtVerify(forged, keys)).rejects.toThrow('signature verification failed')

    const altering = await discover(server, application)
    client.enableNonRepudiationChecks(altering)
    altering[client.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit)
      if (!url.endsWith('/token')) return response
      const answer = (await response.json()) as { id_token: string }
      const [head, body] = answer.id_token.split('.')
      return Response.json({ ...answer, id_token: `${head}.${body}.${'A'.repeat(342)}` })
    }
    const login = await comeBack(altering, await loggedIn(server))
    await expect(redeem(login)).rejects.toMatchObject({
      cause: { message: 'JWT signature verification failed' },
    })
  })

  test('a device learns who allowed it', async () => {
    const server = getServer()
    const application = await register(server, { kind: 'public' })
    const config = await discover(server, application, client.None())
    const device = await client.initiateDeviceAuthorization(config, { scope: SCOPE })
    const person = await loggedIn(server)
    await person.browse(pathOf(new URL(device.verification_uri)))
    await person.submit('/activate', { decision: 'allow' })
    const tokens = await client.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.1 })
    expect(tokens.claims()).toMatchObject({ sub: server.world.broadcaster.id, aud: application.id })
    expect(tokens.claims()).not.toHaveProperty('nonce')
  })
})
