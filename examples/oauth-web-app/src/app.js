import { createServer } from 'node:http'
import * as oauth from 'openid-client'
import { homePage, loginPage } from './pages.js'
import { Sessions } from './sessions.js'

const SCOPE = 'openid user:read:broadcast'

/** The web application: log in with Strand, then see your stream and its markers. `origin` is where browsers reach it. */
export async function createApp({ apiUrl, clientId, clientSecret, origin }) {
  const config = await oauth.discovery(new URL(`${apiUrl}/oauth2`), clientId, clientSecret, undefined, {
    // Only for a server on this machine.
    execute: apiUrl.startsWith('http://localhost:') ? [oauth.allowInsecureRequests] : [],
  })
  const sessions = new Sessions({ secure: origin.startsWith('https:') })

  const routes = {
    'GET /': async (request, response) => {
      const { user } = sessions.of(request)
      if (user === undefined) return show(response, loginPage())
      try {
        const [streams, markers] = await Promise.all([
          helix(user, `/streams?user_id=${user.id}`),
          helix(user, `/streams/markers?user_id=${user.id}`),
        ])
        show(response, homePage(user.name, streams, markers))
      } catch (error) {
        if (!(error instanceof LoggedOut)) throw error
        sessions.end(request, response)
        show(response, loginPage())
      }
    },

    'GET /login': async (request, response) => {
      const checks = {
        pkceCodeVerifier: oauth.randomPKCECodeVerifier(),
        expectedState: oauth.randomState(),
        expectedNonce: oauth.randomNonce(),
      }
      sessions.replace(request, response, { checks })
      const link = oauth.buildAuthorizationUrl(config, {
        redirect_uri: `${origin}/callback`,
        scope: SCOPE,
        state: checks.expectedState,
        nonce: checks.expectedNonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
      redirect(response, link.href)
    },

    'GET /callback': async (request, response) => {
      const { checks } = sessions.of(request)
      if (checks === undefined) return show(response, loginPage('Please log in again.'), 400)
      try {
        const tokens = await oauth.authorizationCodeGrant(config, new URL(request.url, origin), checks)
        const { sub: id, preferred_username: name } = tokens.claims()
        sessions.replace(request, response, { user: { id, name, tokens } })
        redirect(response, '/')
      } catch {
        // The user declined, or the state, the code or the ID token is not ours.
        sessions.end(request, response)
        show(response, loginPage('The login failed. Please try again.'), 400)
      }
    },

    'POST /logout': async (request, response) => {
      const { user } = sessions.of(request)
      sessions.end(request, response)
      if (user !== undefined) await oauth.tokenRevocation(config, user.tokens.access_token)
      redirect(response, '/')
    },
  }

  /** The rows of a list. If the token has expired, it is refreshed once. */
  async function helix(user, path) {
    const used = user.tokens
    const response = await fetch(`${apiUrl}/helix${path}`, {
      headers: { Authorization: `Bearer ${used.access_token}`, 'Client-Id': clientId },
    })
    if (response.status === 401) {
      // Calls at the same time wait for the same refresh.
      if (user.tokens === used) user.refreshing ??= refresh(user).finally(() => delete user.refreshing)
      await user.refreshing
      return helix(user, path)
    }
    if (response.status === 404) return []
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()).data
  }

  async function refresh(user) {
    const { refresh_token } = user.tokens
    try {
      user.tokens = { refresh_token, ...(await oauth.refreshTokenGrant(config, refresh_token)) }
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError) throw new LoggedOut()
      throw error
    }
  }

  return createServer(async (request, response) => {
    const { pathname } = new URL(request.url, origin)
    try {
      const route = routes[`${request.method} ${pathname}`]
      if (route === undefined) show(response, loginPage('There is no such page.'), 404)
      else await route(request, response)
    } catch (error) {
      console.error(error)
      show(response, loginPage('Strand cannot be reached. Please try later.'), 502)
    }
  })
}

/** The refresh token is no longer valid: the user withdrew the consent, or has not been here for long. */
class LoggedOut extends Error {}

function show(response, html, status = 200) {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; form-action 'self'",
    'Cache-Control': 'no-store',
  })
  response.end(html)
}

function redirect(response, location) {
  response.writeHead(303, { Location: location }).end()
}
