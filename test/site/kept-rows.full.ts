/**
 * What strangers and ordinary users can make the store keep. Every operation of the OAuth side and every page is in the table
 * below: either it writes no row, or it is asked more often than the cap on what it writes.
 */
import { expect, test } from 'bun:test'
import { type Issue, issueAppToken, issueUserToken } from '../../src/auth/tokens.ts'
import { operations } from '../../src/contract/index.ts'
import { familyOf } from '../../src/contract/operation.ts'
import { uuid, uuidV7 } from '../../src/kit/id.ts'
import { type Networks, readNetworks } from '../../src/kit/networks.ts'
import { PAGES } from '../../src/site/pages.ts'
import { CAPS } from '../../src/store/commands/cap-sizes.ts'
import { MAX_OLD_KEYS } from '../../src/store/commands/stream-keys.ts'
import { type Sql, sql, verbatim } from '../../src/store/sql/tag.ts'
import { publishedCampaign } from '../operations/drops/campaigns.ts'
import {
  allow,
  authorizeLink,
  challengeOf,
  codeFor,
  loggedIn,
  redeem,
  register,
  type TestApplication,
  validate,
  verifier,
} from '../support/browser/consent.ts'
import { csrfIn, Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { scrape } from '../support/server/scrape.ts'
import type { Answer, TestServer } from '../support/server.ts'

type Row = Readonly<Record<string, string | number | null>>

/** Past its cap: a few more than are kept. */
const MORE = 5

async function rowsOf(server: TestServer, query: Sql): Promise<Row[]> {
  return server.strand.services.store.snapshot(async db => await db.all<Row>(query))
}
async function countOf(server: TestServer, table: string, where: Sql): Promise<number> {
  const [row] = await rowsOf(server, sql`select count(*) as n from ${verbatim(table)} where ${where}`)
  return Number(row?.n)
}

const ask = (server: TestServer, path: string, body: unknown, address?: string): Promise<Answer> =>
  server.call({
    method: 'POST',
    path,
    body,
    ...(address !== undefined && { headers: { 'X-Forwarded-For': address } }),
  })

/** A grant of a user, put into the store as if it had been given by a consent. */
function grantsOf(client_id: string, user_id: string, count: number) {
  const lifetimes = { user_seconds: 3600, refresh_seconds: 3600 }
  return Array.from({ length: count }, () =>
    issueUserToken({ client_id, user_id, scopes: [] }, Date.now(), lifetimes),
  )
}

/** Puts tokens into the store past the caps, in portions that no deadline is too short for. */
async function putThere(server: TestServer, issues: readonly Issue[]): Promise<void> {
  const tokens = issues.flatMap(({ rows }) => rows)
  for (let from = 0; from < tokens.length; from += 100)
    await server.strand.services.store.commands.issueTokens({ tokens: tokens.slice(from, from + 100) })
}

const ofGrants = (client: TestApplication) => sql`client_id = ${client.id} and kind <> 'app'`
const families = async (server: TestServer, client: TestApplication) =>
  (await rowsOf(server, sql`select distinct family from tokens where ${ofGrants(client)}`)).length

const pkce = () => {
  const code_verifier = verifier()
  const challenge = { code_challenge: challengeOf(code_verifier), code_challenge_method: 'S256' }
  return { code_verifier, challenge }
}

/** How a route is asked more often than its cap, and what must hold then. */
type Hammering = (server: TestServer) => Promise<void>

const deviceStart: Hammering = async server => {
  const client = await register(server, { kind: 'public' })
  const address = '192.0.2.77'
  for (let n = 0; n < CAPS.deviceCodesOfNetwork + MORE; n++)
    expect((await ask(server, '/oauth2/device', { client_id: client.id }, address)).status).toBe(200)
  expect(await countOf(server, 'device_codes', sql`client_id = ${client.id}`)).toBe(CAPS.deviceCodesOfNetwork)
  expect(await countOf(server, 'device_codes', sql`network = ${address}`)).toBe(CAPS.deviceCodesOfNetwork)
}

const appTokensAt =
  (path: string): Hammering =>
  async server => {
    const client = await register(server)
    const issues = Array.from({ length: CAPS.appTokensOfClient }, () =>
      issueAppToken(client.id, Date.now(), 3600),
    )
    await putThere(server, issues)
    const body = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret }
    for (let n = 0; n < MORE; n++) {
      const { access_token } = (await ask(server, path, body)).body
      expect((await validate(server, access_token)).status).toBe(200)
    }
    expect(await countOf(server, 'tokens', sql`client_id = ${client.id}`)).toBe(CAPS.appTokensOfClient)
  }

const redeemedCodes: Hammering = async server => {
  const client = await register(server)
  const old = grantsOf(client.id, server.world.broadcaster.id, CAPS.grantsOfUserAndClient)
  await putThere(server, old)
  const first = old[0]?.answer.access_token ?? ''
  expect((await validate(server, first)).status).toBe(200)
  for (let n = 0; n < MORE; n++) {
    const answer = await redeem(server, client, await codeFor(server, client))
    expect((await validate(server, answer.body.access_token)).status).toBe(200)
  }
  expect(await families(server, client)).toBe(CAPS.grantsOfUserAndClient)
  expect((await validate(server, first)).status).toBe(401)
}

const redeemedDevices: Hammering = async server => {
  const client = await register(server, { kind: 'public' })
  const old = grantsOf(client.id, server.world.broadcaster.id, CAPS.grantsOfUserAndClient)
  await putThere(server, old)
  const person = await loggedIn(server)
  for (let n = 0; n < MORE; n++) {
    const { body } = await ask(server, '/oauth2/device', { client_id: client.id })
    await person.browse(`/activate?device-code=${body.user_code}`)
    await person.submit('/activate', { decision: 'allow' })
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const { device_code } = body
    const answer = await ask(server, '/oauth2/token', { grant_type, client_id: client.id, device_code })
    expect(answer.status).toBe(200)
  }
  expect(await families(server, client)).toBe(CAPS.grantsOfUserAndClient)
  expect(await countOf(server, 'device_codes', sql`client_id = ${client.id}`)).toBe(0)
}

const refreshesOf =
  (kind: 'confidential' | 'public'): Hammering =>
  async server => {
    const client = await register(server, { kind })
    const [issue] = grantsOf(client.id, server.world.viewer.id, 1)
    await server.strand.services.store.commands.issueTokens({ tokens: issue?.rows ?? [] })
    let refresh_token = issue?.answer.refresh_token
    const given: string[] = []
    for (let n = 0; n < CAPS.accessTokensOfGrant + MORE; n++) {
      const { body } = await ask(server, '/oauth2/token', {
        grant_type: 'refresh_token',
        client_id: client.id,
        client_secret: client.secret,
        refresh_token,
      })
      refresh_token = body.refresh_token
      given.push(body.access_token)
    }
    const ofKind = (kind: string) =>
      countOf(server, 'tokens', sql`client_id = ${client.id} and kind = ${kind}`)
    expect(await ofKind('user')).toBe(CAPS.accessTokensOfGrant)
    expect(await ofKind('refresh')).toBe(kind === 'public' ? CAPS.usedRefreshTokensOfGrant + 1 : 1)
    // The oldest has ended, for those too who knew it from memory.
    expect((await validate(server, issue?.answer.access_token ?? '')).status).toBe(401)
    expect((await validate(server, given.at(-1) ?? '')).status).toBe(200)
  }

const everyGrantOfTheTokenEndpoint: Hammering = async server => {
  await appTokensAt('/oauth2/token')(server)
  await redeemedCodes(server)
  await redeemedDevices(server)
  await refreshesOf('confidential')(server)
  await refreshesOf('public')(server)
}

const mintedTokens: Hammering = async server => {
  const client = await register(server)
  const old = grantsOf(client.id, server.world.viewer.id, CAPS.mintedGrantsOfUserAndClient)
  await putThere(server, old)
  for (let n = 0; n < MORE; n++) {
    const answer = await ask(server, '/oauth2/authorize', {
      grant_type: 'user_token',
      client_id: client.id,
      client_secret: client.secret,
      user_id: server.world.viewer.id,
    })
    expect(answer.status).toBe(200)
  }
  expect(await families(server, client)).toBe(CAPS.mintedGrantsOfUserAndClient)
}

/** Codes come from the consent form, and without one where the person has allowed the application before. */
const codesOf =
  (asks: boolean): Hammering =>
  async server => {
    const client = await register(server)
    const person = await loggedIn(server)
    const link = authorizeLink(client.id, asks ? { force_verify: 'true' } : {})
    const { id } = server.world.broadcaster
    for (let n = 0; n < CAPS.codesOfUserAndClient; n++) {
      await server.strand.services.store.commands.grantCode({
        code: {
          hash: uuid(),
          client_id: client.id,
          user_id: id,
          redirect_uri: 'http://localhost:3000/callback',
          challenge: null,
          scopes: ['user:read:follows', 'chat:read'],
          family: uuidV7(),
          expires_at: '2026-01-01T00:00:00.000Z',
        },
        now: '2026-01-01T00:00:00.000Z',
      })
    }
    for (let n = 0; n < MORE; n++) {
      const { location } = await allow(person, link)
      expect(location).toContain('code=')
    }
    const ofPerson = sql`client_id = ${client.id} and user_id = ${id}`
    expect(await countOf(server, 'authorization_codes', ofPerson)).toBe(CAPS.codesOfUserAndClient)
    expect(await countOf(server, 'connections', ofPerson)).toBe(1)
  }

const implicitTokens: Hammering = async server => {
  const client = await register(server, { kind: 'public', implicit_grant: true })
  const old = grantsOf(client.id, server.world.broadcaster.id, CAPS.grantsOfUserAndClient)
  await putThere(server, old)
  const person = await loggedIn(server)
  for (let n = 0; n < MORE; n++)
    await allow(person, authorizeLink(client.id, { response_type: 'token', ...pkce().challenge }))
  expect(await families(server, client)).toBe(CAPS.grantsOfUserAndClient)
}

/** Each consent asks for other scopes, of which there is no end. */
const scopesOfConnection: Hammering = async server => {
  const client = await register(server)
  const person = await loggedIn(server)
  for (let n = 0; n < 10; n++) {
    const scope = Array.from({ length: 49 }, (_, m) => `made:up_${'abcdefghij'[n]}${'x'.repeat(m)}`)
    await allow(person, authorizeLink(client.id, { scope: ['channel:read:stream_key', ...scope].join(' ') }))
  }
  const [row] = await rowsOf(server, sql`select scopes from connections where client_id = ${client.id}`)
  const kept: string[] = JSON.parse(String(row?.scopes))
  expect(kept.length).toBeLessThanOrEqual(200)
  expect(kept).toContain('channel:read:stream_key')
}

const sessions: Hammering = async server => {
  const { id, login } = server.world.users[1] ?? { id: '', login: '' }
  const { store } = server.strand.services
  const { password_hash = null } = (await store.accounts.credentials(login)) ?? {}
  for (let n = 0; n < CAPS.sessionsOfUser; n++) {
    await store.commands.startSession({
      session: {
        hash: uuid(),
        id: uuid(),
        user_id: id,
        expires_at: '2999-01-01T00:00:00.000Z',
        browser: 'Firefox',
      },
      password_hash,
      now: '2026-01-01T00:00:00.000Z',
    })
  }
  for (let n = 0; n < MORE; n++) await loggedIn(server, login)
  expect(await countOf(server, 'sessions', sql`user_id = ${id}`)).toBe(CAPS.sessionsOfUser)
  const [row] = await rowsOf(
    server,
    sql`select count(*) as n from sessions where user_id = ${id} and created_at > '2026-01-02'`,
  )
  expect(Number(row?.n)).toBe(MORE)
}

const accounts: Hammering = async server => {
  const person = new Person(server)
  // Wrong attempts are counted by address; accounts by network, for a day.
  const addressOf = (n: number) => `2001:db8:7:${(n + 1).toString(16)}::1`
  const statuses: number[] = []
  for (let n = 0; n < SIGN_UPS + MORE; n++) {
    person.headers = { 'X-Forwarded-For': addressOf(n) }
    await person.browse('/signup')
    const seen = await person.post('/signup', { login: `made_up_${n}`, password: 'long enough' })
    statuses.push(seen.status)
  }
  expect(statuses.filter(status => status === 302)).toHaveLength(SIGN_UPS)
  expect(statuses.slice(SIGN_UPS)).toEqual(Array.from({ length: MORE }, () => 429))
  expect(await countOf(server, 'users', sql`login like 'made_up_%'`)).toBe(SIGN_UPS)
}

const decisions: Hammering = async server => {
  const client = await register(server, { kind: 'public' })
  const person = await loggedIn(server)
  for (let n = 0; n < MORE; n++) {
    const { body } = await ask(server, '/oauth2/device', { client_id: client.id })
    await person.browse(`/activate?device-code=${body.user_code}`)
    await person.submit('/activate', { decision: n % 2 === 0 ? 'allow' : 'deny' })
  }
  expect(await countOf(server, 'device_codes', sql`client_id = ${client.id}`)).toBe(MORE)
  expect(await countOf(server, 'connections', sql`client_id = ${client.id}`)).toBe(1)
}

const nonces: Hammering = async server => {
  const client = await register(server)
  const person = await loggedIn(server)
  for (let n = 0; n < CAPS.codesOfUserAndClient + MORE; n++)
    await allow(person, authorizeLink(client.id, { scope: 'openid', nonce: 'n'.repeat(1000) }))
  const withNonce = sql`client_id = ${client.id} and nonce is not null`
  expect(await countOf(server, 'authorization_codes', withNonce)).toBe(CAPS.codesOfUserAndClient)
}

const signingKeys: Hammering = async server => {
  await Promise.all(Array.from({ length: 20 }, () => server.call({ path: '/oauth2/keys' })))
  expect(await countOf(server, 'signing_keys', sql`1 = 1`)).toBe(1)
}

/** One row per channel; how many channels is limited too (channel.test.ts). */
const follows: Hammering = async server => {
  const person = await loggedIn(server, server.world.users[1]?.login)
  const { id, login } = server.world.users[2] ?? { id: '', login: '' }
  person.headers = { Accept: 'text/html' }
  for (let n = 0; n < MORE; n++) {
    await person.open(`/${login}`)
    await person.post('/follow', { decision: 'follow' })
  }
  const { id: user_id = '' } = server.world.users[1] ?? {}
  const pair = sql`user_id = ${user_id} and broadcaster_id = ${id}`
  expect(await countOf(server, 'follows', pair)).toBe(1)
}

const studioOf = async (server: TestServer) => {
  const [{ id, login } = { id: '', login: '' }] = server.world.users
  const person = await loggedIn(server, login)
  person.headers = { Accept: 'text/html' }
  const post = async (form: string, values: Record<string, string>) => {
    const csrf = csrfIn((await person.open('/studio')).html)
    return (await person.postRaw(`/studio/${login}/${form}`, { csrf, ...values }, {})).status
  }
  return { id, post }
}

const streamKeys: Hammering = async server => {
  const { id, post } = await studioOf(server)
  for (let n = 0; n < MAX_OLD_KEYS + MORE; n++)
    expect(await post('key', { decision: 'rotate', grace: '604800' })).toBe(302)
  expect(await countOf(server, 'stream_keys', sql`user_id = ${id}`)).toBe(MAX_OLD_KEYS + 1)
}

/** One row per person; how many people is limited too (channels.test.ts). */
const editors: Hammering = async server => {
  const { id, post } = await studioOf(server)
  const { id: editor_id = '', login = '' } = server.world.users[2] ?? {}
  for (let n = 0; n < MORE; n++) expect(await post('editors', { decision: 'add', login })).toBe(302)
  expect(await countOf(server, 'editors', sql`user_id = ${id} and editor_id = ${editor_id}`)).toBe(1)
}

/** As many as the rate limit of the person allows: each is made by CreateStreamMarker. */
const markers: Hammering = async server => {
  const { id, post } = await studioOf(server)
  await server.control('PUT', `/channels/${id}/stream`, {})
  const series = 'strand_http_requests_total{operation="CreateStreamMarker",status="200"}'
  const called = async () => (await scrape(server.url)).series.get(series) ?? 0
  const before = await called()
  for (let n = 0; n < MORE; n++)
    expect(await post('markers', { decision: 'add', description: `${n}` })).toBe(302)
  expect((await called()) - before).toBe(MORE)
}

/** One claim for each drop, however often it is claimed. */
const claims: Hammering = async server => {
  const [{ id, login } = { id: '', login: '' }] = server.world.users
  const campaign = await publishedCampaign(server)
  await server.control('POST', `/campaigns/${campaign.id}/viewers/${id}/minutes`, { add: 30 })
  const person = await loggedIn(server, login)
  person.headers = { Accept: 'text/html' }
  const csrf = csrfIn((await person.open('/drops')).html)
  for (let n = 0; n < MORE; n++)
    expect((await person.postRaw('/drops', { csrf, drop_id: campaign.drops[0].id }, {})).status).toBe(302)
  expect(await countOf(server, 'drop_claims', sql`user_id = ${id}`)).toBe(1)
  const earned = await server.control('GET', `/entitlements?user_id=${id}&game_id=${campaign.game_id}`)
  expect(earned.length).toBe(1)
}

const SIGN_UPS = 4
/** Reads, or changes and removes rows that are there. */
const NO_ROWS = 'adds no rows'

const ROUTES: Readonly<Record<string, Hammering | readonly Hammering[] | typeof NO_ROWS>> = {
  'POST /oauth2/token': everyGrantOfTheTokenEndpoint,
  'POST /oauth2/device': deviceStart,
  'POST /oauth2/authorize': mintedTokens,
  'POST /oauth2/openid/token': appTokensAt('/oauth2/openid/token'),
  'GET /oauth2/keys': signingKeys,
  'GET /oauth2/.well-known/openid-configuration': NO_ROWS,
  'GET /search/suggestions': NO_ROWS,
  'GET /oauth2/userinfo': NO_ROWS,
  'GET /oauth2/validate': NO_ROWS,
  'POST /oauth2/revoke': NO_ROWS,
  'GET /oauth2/authorize': codesOf(false),
  'GET /auth/authorize': NO_ROWS,
  'POST /oauth2/consent': [codesOf(true), implicitTokens, scopesOfConnection, nonces],
  'GET /oauth2/activate': NO_ROWS,
  'GET /auth/activate': NO_ROWS,
  'GET /activate': NO_ROWS,
  'POST /activate': decisions,
  'GET /login': NO_ROWS,
  'POST /login': sessions,
  'POST /logout': NO_ROWS,
  'GET /signup': NO_ROWS,
  'POST /signup': accounts,
  'GET /account': NO_ROWS,
  'POST /account/disconnect': NO_ROWS,
  'POST /account/end-session': NO_ROWS,
  'POST /account/password': NO_ROWS,
  'POST /account/profile': NO_ROWS,
  'POST /account/appearance': NO_ROWS,
  'POST /account/end-other-sessions': NO_ROWS,
  'GET /account/new-password': NO_ROWS,
  'POST /account/new-password': NO_ROWS,
  'GET /': NO_ROWS,
  'POST /follow': follows,
  'POST /site/token': NO_ROWS,
  'GET /site/broadcast': NO_ROWS,
  'GET /drops': NO_ROWS,
  'POST /drops': claims,
  'GET /site/drops-channels': NO_ROWS,
  'GET /studio': NO_ROWS,
  'GET /studio/{login}': NO_ROWS,
  'GET /studio/{login}/channel': NO_ROWS,
  'GET /studio/{login}/editors': NO_ROWS,
  'GET /studio/{login}/videos': NO_ROWS,
  'GET /studio/{login}/status': NO_ROWS,
  'GET /studio/{login}/markers/export': NO_ROWS,
  'POST /studio/{login}/channel': NO_ROWS,
  'POST /studio/{login}/videos': NO_ROWS,
  'POST /studio/{login}/key': streamKeys,
  'POST /studio/{login}/editors': editors,
  'POST /studio/{login}/markers': markers,
  'GET /console': NO_ROWS,
  'POST /console/login': NO_ROWS,
  'POST /console/logout': NO_ROWS,
  'GET /console/{page}': NO_ROWS,
  'POST /console/{page}': NO_ROWS,
  'GET /games': NO_ROWS,
  'GET /games/{game_id}': NO_ROWS,
  'GET /videos/{video_id}': NO_ROWS,
  'GET /{login}': NO_ROWS,
}

test('every operation of the OAuth side and every page is in the table', () => {
  const ways = [
    ...operations
      .filter(operation => familyOf(operation) === 'oauth')
      .map(({ method, path }) => `${method} ${path}`),
    ...Object.entries(PAGES).flatMap(([path, byMethod]) =>
      Object.keys(byMethod).map(method => `${method} ${path}`),
    ),
  ]
  expect(Object.keys(ROUTES).toSorted()).toEqual(ways.toSorted())
})

onEachStore(
  'what can be made to be kept',
  {
    config: {
      signUp: true,
      signUpsPerDay: SIGN_UPS,
      trustedProxies: readNetworks(['127.0.0.1', '::1']) as Networks,
    },
  },
  server => {
    for (const [way, hammering] of Object.entries(ROUTES)) {
      if (hammering === NO_ROWS) continue
      test(`${way} is bounded, however often it is asked`, async () => {
        for (const each of [hammering].flat()) await each(server())
      })
    }

    test('one network that starts devices without end does not void the codes of others', async () => {
      const client = await register(server(), { kind: 'public' })
      const start = (address: string) => ask(server(), '/oauth2/device', { client_id: client.id }, address)
      const { body } = await start('203.0.113.1')
      for (let n = 0; n < CAPS.deviceCodesOfNetwork + MORE; n++)
        await start(`2001:db8:9:${(n % 40).toString(16)}::1`)
      expect(await countOf(server(), 'device_codes', sql`client_id = ${client.id}`)).toBe(
        CAPS.deviceCodesOfNetwork + 1,
      )
      const answer = await ask(server(), '/oauth2/token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: client.id,
        device_code: body.device_code,
      })
      expect(answer.body.message).toBe('authorization_pending')
    })
  },
)
