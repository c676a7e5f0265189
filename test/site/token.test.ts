/** Tokens of the site (D-150): who gets one for what, what it opens, when it ends, and what an attacker gets: nothing. */
import { expect, test } from 'bun:test'
import { SiteTokens } from '../../src/auth/site-tokens.ts'
import { SCOPES, type Scope } from '../../src/contract/scope.ts'
import { SITE_CLIENT_ID } from '../../src/contract/site-client.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

usingCheapPasswords()

const HTML = { Accept: 'text/html' }
const OTHER_RING = new KeyRing([{ id: 'other', bytes: new Uint8Array(32).fill(7) }])

const grantIn = (html: string) => /<meta name="strand-grant" content="([^"]+)"/.exec(html)?.[1] ?? ''

const config = { rateLimits: { app: 100_000, user: 100_000, anonymous: 100_000 } }

const exchange = (person: Person, grant: string, headers: Record<string, string> = {}) =>
  person.postRaw('/site/token', { grant }, headers)

/** The token that the home page gets. */
async function tokenOf(person: Person): Promise<string> {
  const { html } = await person.open('/')
  const { status, html: body } = await exchange(person, grantIn(html))
  expect(status).toBe(200)
  return JSON.parse(body).access_token
}

onEachStore('tokens of the site', { config }, server => {
  let count = 0
  async function newPerson(password?: string): Promise<{ person: Person; login: string; id: string }> {
    count += 1
    const login = `watcher_${count}_${Math.floor(Math.random() * 1e6)}`
    const [{ id }] = await server().control('POST', '/users', { login, ...(password && { password }) })
    const person = new Person(server())
    person.headers = HTML
    await person.holdSession(id)
    return { person, login, id }
  }

  const streamsWith = ({ url }: TestServer, token: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/helix/streams`, { headers: { Authorization: `Bearer ${token}`, ...headers } })
  const statusOf = async (token: string) => (await streamsWith(server(), token)).status

  test('200 a visitor: reads what applications read, and sets no cookie', async () => {
    const visitor = new Person(server())
    visitor.headers = HTML
    const { html, headers } = await visitor.open('/')
    expect(headers.has('set-cookie')).toBe(false)
    const answer = await exchange(visitor, grantIn(html))
    expect([answer.status, answer.headers.get('cache-control'), visitor.cookies]).toEqual([
      200,
      'no-store',
      '',
    ])
    const { access_token, ...rest } = JSON.parse(answer.html)
    expect(rest).toEqual({
      expires_in: expect.any(Number),
      token_type: 'bearer',
      client_id: SITE_CLIENT_ID,
      scope: [],
    })
    expect(rest.expires_in).toBeWithin(500, 601)
    const call = (path: string) => server().call({ path, token: access_token })
    for (const path of ['/helix/streams', '/helix/games/top', '/helix/search/channels?query=a'])
      expect([path, (await call(path)).status]).toEqual([path, 200])
  })

  test('401 and 403 a visitor: nothing of users, organizations and subscriptions', async () => {
    const visitor = new Person(server())
    visitor.headers = HTML
    const token = await tokenOf(visitor)
    const refusals: [string, string, object?][] = [
      ['GET', '/helix/streams/key?broadcaster_id=1'],
      ['GET', '/helix/streams/followed?user_id=1'],
      ['GET', '/helix/entitlements/drops'],
      ['PATCH', '/helix/entitlements/drops', { fulfillment_status: 'FULFILLED' }],
      ['GET', '/helix/channels/editors?broadcaster_id=1'],
      [
        'POST',
        '/helix/eventsub/subscriptions',
        {
          type: 'stream.online',
          version: '1',
          condition: { broadcaster_user_id: server().world.broadcaster.id },
          transport: { method: 'webhook', callback: 'https://evil.example/', secret: 'long enough secret' },
        },
      ],
    ]
    for (const [method, path, body] of refusals) {
      const answer = await server().call({ method: method as 'GET', path, token, ...(body && { body }) })
      expect([path, [400, 401, 403].includes(answer.status)]).toEqual([path, true])
    }
    expect((await server().call({ path: '/oauth2/userinfo', token })).status).toBe(401)
    const listed = await server().control('GET', '/clients?first=100')
    expect(listed.map((client: { id: string }) => client.id)).not.toContain(SITE_CLIENT_ID)
  })

  test('200 a user: the identity of the session and exactly the scopes of the page', async () => {
    const { person, login, id } = await newPerson()
    const token = await tokenOf(person)
    const { body } = await server().call({
      path: '/oauth2/validate',
      headers: { Authorization: `OAuth ${token}` },
    })
    expect([body.client_id, body.login, body.user_id, body.scopes]).toEqual([SITE_CLIENT_ID, login, id, []])
    const { status, body: refused } = await server().call({
      path: `/helix/streams/key?broadcaster_id=${id}`,
      token,
    })
    expect([status, refused.message]).toEqual([401, 'Missing scope: channel:read:stream_key'])
  })

  test('200 with fewer scopes than the page has, and never with more', async () => {
    const { person, id } = await newPerson()
    const { html } = await person.open('/docs')
    const withScope = async (scope: string) =>
      JSON.parse((await person.postRaw('/site/token', { grant: grantIn(html), scope }, {})).html)
    expect((await withScope('')).scope.toSorted()).toEqual(SCOPES.toSorted())
    const one = await withScope('channel:read:stream_key')
    expect(one.scope).toEqual(['channel:read:stream_key'])
    const call = (path: string, token: string) => server().call({ path, token })
    expect((await call(`/helix/streams/key?broadcaster_id=${id}`, one.access_token)).status).toBe(200)
    expect((await call(`/helix/channels/editors?broadcaster_id=${id}`, one.access_token)).status).toBe(401)
    expect((await withScope('none')).scope).toEqual([])
    expect((await withScope('user:edit channel:made:up')).scope).toEqual(['user:edit'])
    const home = grantIn((await person.open('/')).html)
    const more = await person.postRaw('/site/token', { grant: home, scope: 'channel:read:stream_key' }, {})
    expect(JSON.parse(more.html).scope).toEqual([])
    const visitor = new Person(server())
    visitor.headers = HTML
    const grant = grantIn((await visitor.open('/docs')).html)
    const none = await visitor.postRaw('/site/token', { grant, scope: 'channel:read:stream_key' }, {})
    expect(JSON.parse(none.html).scope).toEqual([])
  })

  test('403 without the grant of this session, and from elsewhere', async () => {
    const { person } = await newPerson()
    const other = await newPerson()
    const own = grantIn((await person.open('/')).html)
    const theirs = grantIn((await other.person.open('/')).html)
    const stranger = new Person(server())
    const forged = (scopes: Scope[]) => new SiteTokens(OTHER_RING).grant({ session_id: null, scopes })
    for (const [title, who, grant, headers] of [
      ['no grant', person, '', {}],
      ['the grant of another session', person, theirs, {}],
      ['the grant without the cookie', stranger, own, {}],
      ['a forged grant', person, forged(['channel:read:stream_key']), {}],
      ['an altered grant', person, `${own.slice(0, -4)}AAAA`, {}],
      ['a token as grant', person, (await tokenOf(person)).slice(5), {}],
      ['another site', person, own, { Origin: 'https://evil.example' }],
      ['another site, as browsers mark it', person, own, { 'Sec-Fetch-Site': 'cross-site' }],
      ['a subdomain', person, own, { 'Sec-Fetch-Site': 'same-site' }],
      ['a sandboxed frame', person, own, { Origin: 'null' }],
      ['no form', person, own, { 'Content-Type': 'text/plain' }],
    ] as const) {
      const { status, html } = await exchange(who, grant, headers)
      expect([title, status, html.includes('access_token')]).toEqual([title, 403, false])
    }
    expect((await exchange(person, own)).status).toBe(200)
  })

  test('401 no cookie opens the API, with or without a session', async () => {
    const { person, id } = await newPerson()
    const response = await fetch(`${server().url}/helix/streams/key?broadcaster_id=${id}`, {
      headers: { Cookie: person.cookies },
    })
    expect(response.status).toBe(401)
  })

  test('401 a token that was altered, was signed by others, or is a grant', async () => {
    const { person } = await newPerson()
    const { html } = await person.open('/')
    const token = await tokenOf(person)
    const forged = new SiteTokens(OTHER_RING).mint({ session_id: null, scopes: [] }, Date.now()).access_token
    for (const wrong of [
      forged,
      `${token.slice(0, -3)}AAA`,
      `ssit_${grantIn(html)}`,
      'ssit_',
      'ssit_!',
      token.replace('ssit_', 'susr_'),
      token.slice(5),
    ])
      expect([wrong, await statusOf(wrong)]).toEqual([wrong, 401])
    expect(await statusOf(token)).toBe(200)
  })

  test('401 with the client id of another application', async () => {
    const { person } = await newPerson()
    const token = await tokenOf(person)
    const response = await streamsWith(server(), token, { 'Client-Id': server().world.client.id })
    expect(response.status).toBe(401)
    expect((await streamsWith(server(), token, { 'Client-Id': SITE_CLIENT_ID })).status).toBe(200)
  })

  const endings: [string, (who: Awaited<ReturnType<typeof newPerson>>) => Promise<unknown>][] = [
    [
      'log-out',
      async ({ person }) => {
        await person.open('/account')
        await person.post('/logout')
      },
    ],
    [
      'ending the session from another browser',
      async ({ id }) => {
        const elsewhere = new Person(server())
        elsewhere.headers = HTML
        await elsewhere.holdSession(id)
        const { forms } = await elsewhere.open('/account')
        const [other, ...more] = forms.filter(form => form.action === '/account/end-session')
        expect(more).toEqual([])
        await elsewhere.postRaw('/account/end-session', other?.fields ?? {}, { Origin: server().url })
      },
    ],
    [
      'another password, set by the operator',
      ({ id }) => server().control('PUT', `/users/${id}`, { password: 'something else' }),
    ],
    ['deleting the user', ({ id }) => server().control('DELETE', `/users/${id}`)],
  ]
  for (const [title, end] of endings) {
    test(`401 after ${title}: the token ends at once, and the grant gets no other`, async () => {
      // Without a password before, setting one ends nothing.
      const who = await newPerson('the first password')
      const { html } = await who.person.open('/')
      const token = await tokenOf(who.person)
      expect(await statusOf(token)).toBe(200)
      const thief = new Person(server())
      await end(who)
      expect(await statusOf(token)).toBe(401)
      expect((await exchange(who.person, grantIn(html))).status).toBe(403)
      expect((await exchange(thief, grantIn(html))).status).toBe(403)
    })
  }

  test('200 changing the own password keeps the session, so its tokens go on', async () => {
    const password = 'the first password'
    const { person } = await newPerson(password)
    const token = await tokenOf(person)
    await person.open('/account')
    await person.post('/account/password', { current: password, password: 'another password' })
    expect(await statusOf(token)).toBe(200)
  })

  test('400 and 401 the client of the site cannot be used by others', async () => {
    const body = { client_id: SITE_CLIENT_ID, client_secret: 'x', grant_type: 'client_credentials' }
    expect((await server().call({ method: 'POST', path: '/oauth2/token', body })).status).toBe(400)
    const device = { client_id: SITE_CLIENT_ID, scopes: 'user:read:follows' }
    expect((await server().call({ method: 'POST', path: '/oauth2/device', body: device })).status).toBe(400)
    const { person } = await newPerson()
    const query = `client_id=${SITE_CLIENT_ID}&redirect_uri=https://evil.example/&response_type=token&scope=user:edit`
    const asked = await person.open(`/oauth2/authorize?${query}`)
    expect([asked.status, asked.location]).toEqual([400, null])
    const line = JSON.stringify({ type: 'client', id: SITE_CLIENT_ID, name: 'Mine', kind: 'public' })
    const imported = await server().call({
      method: 'POST',
      path: '/control/import',
      token: server().strand.operatorToken,
      headers: { 'Content-Type': 'application/x-ndjson' },
      text: `${line}\n`,
    } as never)
    expect(JSON.stringify(imported.body)).not.toContain('"created":1')
    expect(await server().strand.services.store.clients.find(SITE_CLIENT_ID)).toBeUndefined()
  })

  test('nothing is stored for a visitor or a token', async () => {
    const { store } = server().strand.services
    const visitor = new Person(server())
    visitor.headers = HTML
    const first = await tokenOf(visitor)
    const again = new Set<string>([first])
    for (let turn = 0; turn < 20; turn++) again.add(await tokenOf(visitor))
    // The same text within a minute, so that neither the store nor the memory has one per visitor.
    expect(again.size).toBeLessThanOrEqual(2)
    expect(
      await store.tokens.find(new Bun.CryptoHasher('sha256').update(first).digest('hex')),
    ).toBeUndefined()
  })
})

onEachStore(
  'tokens of the site, with a low rate limit',
  { config: { ...config, rateLimits: { app: 60, user: 60, anonymous: 60 } } },
  server => {
    test('200 a visitor is charged to the address', async () => {
      const visitor = new Person(server())
      visitor.headers = HTML
      const token = await tokenOf(visitor)
      const remaining = async (token?: string) => {
        const { headers } = await server().call({ path: '/helix/streams', ...(token && { token }) })
        return Number(headers.get('ratelimit-remaining'))
      }
      for (let turn = 0; turn < 10; turn++) await remaining(token)
      // A point returns every second.
      expect(await remaining()).toBeLessThan(56)
    })
  },
)
