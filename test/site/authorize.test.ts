/** GET /oauth2/authorize and its consent form: who is sent where with what, and who is sent nowhere. */
import { expect, test } from 'bun:test'
import {
  allow,
  authorizeLink,
  CALLBACK,
  challengeOf,
  loggedIn,
  redeem,
  register,
  validate,
  verifier,
} from '../support/browser/consent.ts'
import { carried, Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'

onEachStore('the authorize page', {}, server => {
  test('200 asks who is not logged in to log in, and leads on to the question', async () => {
    const application = await register(server())
    const person = new Person(server())
    const first = await person.browse(authorizeLink(application.id))
    expect(first.status).toBe(200)
    expect(first.html).toContain('Log in')
    expect(first.html).toContain('Overlay &amp; Co')
    const { login, password } = server().world.users[0] ?? { login: '', password: '' }
    const asked = await person.submit('/login', { login, password })
    expect(asked.html).toContain('Overlay &amp; Co asks for access')
    expect(asked.html).toContain('See which channels you follow')
    expect(asked.html).toContain('localhost:3000')
    expect(asked.html).toContain('Logged in as')
  })

  test('302 allowing leads back with code, scope and state, and the code gives tokens', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    const { status, location, headers } = await allow(person, authorizeLink(application.id))
    expect(status).toBe(302)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(location).toStartWith(`${CALLBACK}?code=`)
    expect(location).toContain('&scope=user%3Aread%3Afollows+chat%3Aread&state=state+of+the+app')
    const answer = await redeem(server(), application, carried(location).get('code') ?? '')
    expect(answer.status).toBe(200)
    const { body } = await validate(server(), answer.body.access_token)
    expect(body.login).toBe(server().world.broadcaster.login)
    expect(body.scopes).toEqual(['user:read:follows', 'chat:read'])
  })

  test('302 denying leads back with access_denied and state', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    await person.browse(authorizeLink(application.id))
    const { status, location } = await person.submit('/oauth2/consent', { decision: 'deny' })
    expect(status).toBe(302)
    expect(location).toStartWith(`${CALLBACK}?error=access_denied&error_description=`)
    expect(carried(location).get('state')).toBe('state of the app')
    expect(carried(location).has('code')).toBe(false)
  })

  test('302 keeps the query of the registered URI', async () => {
    const application = await register(server(), { redirect_uris: [`${CALLBACK}?tenant=7`] })
    const person = await loggedIn(server())
    const link = authorizeLink(application.id, { redirect_uri: `${CALLBACK}?tenant=7` })
    expect((await allow(person, link)).location).toStartWith(`${CALLBACK}?tenant=7&code=`)
  })

  test('302 a person who allowed it before is not asked again, unless more is asked, or it is forced', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    await allow(person, authorizeLink(application.id))
    const again = await person.browse(authorizeLink(application.id))
    expect(carried(again.location).get('code')).toMatch(/^scod_/)
    const less = await person.browse(authorizeLink(application.id, { scope: 'chat:read' }))
    expect(less.location).toStartWith(CALLBACK)
    const more = await person.browse(authorizeLink(application.id, { scope: 'channel:read:stream_key' }))
    expect(more.html).toContain('See your stream key')
    const forced = await person.browse(authorizeLink(application.id, { force_verify: 'true' }))
    expect(forced.html).toContain('asks for access')
    const other = await loggedIn(server(), server().world.users[0]?.login)
    expect((await other.browse(authorizeLink(application.id))).html).toContain('asks for access')
  })

  test('200 a public client always asks, because any program can claim to be it', async () => {
    const application = await register(server(), { kind: 'public' })
    const person = await loggedIn(server())
    const link = () =>
      authorizeLink(application.id, {
        code_challenge: challengeOf(verifier()),
        code_challenge_method: 'S256',
      })
    await allow(person, link())
    expect((await person.browse(link())).html).toContain('asks for access')
  })

  test('302 the implicit grant gives a token in the fragment, to clients registered for it', async () => {
    const application = await register(server(), { kind: 'public', implicit_grant: true })
    const person = await loggedIn(server())
    const { location } = await allow(person, authorizeLink(application.id, { response_type: 'token' }))
    expect(location).toStartWith(`${CALLBACK}#access_token=susr_`)
    const given = carried(location, 'hash')
    expect([...given.keys()]).toEqual(['access_token', 'scope', 'token_type', 'state'])
    expect(given.get('token_type')).toBe('bearer')
    expect((await validate(server(), given.get('access_token') ?? '')).body.client_id).toBe(application.id)
    const denied = await person.browse(authorizeLink(application.id, { response_type: 'token' }))
    expect(denied.status).toBe(200)
    const { location: away } = await person.submit('/oauth2/consent', { decision: 'deny' })
    expect(carried(away, 'hash').get('error')).toBe('access_denied')
  })

  test('302 what the application got wrong is sent to the application', async () => {
    const confidential = await register(server())
    const open = await register(server(), { kind: 'public' })
    const person = await loggedIn(server())
    const cases: [string, Record<string, string | undefined>, string, string?][] = [
      ['unsupported_response_type', { response_type: undefined }, confidential.id],
      ['unsupported_response_type', { response_type: 'id_token' }, confidential.id],
      ['unauthorized_client', { response_type: 'token' }, confidential.id, 'hash'],
      ['invalid_scope', { scope: 'user:read:follows No!' }, confidential.id],
      ['invalid_request', { code_challenge: 'x'.repeat(43) }, confidential.id],
      [
        'invalid_request',
        { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' },
        confidential.id,
      ],
      ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }, confidential.id],
      ['invalid_request', {}, open.id],
    ]
    for (const [error, changes, client_id, where] of cases) {
      const { status, location } = await person.open(authorizeLink(client_id, changes))
      expect(status).toBe(302)
      expect(location).toStartWith(CALLBACK)
      const given = carried(location, where === 'hash' ? 'hash' : 'search')
      expect([error, given.get('error'), given.get('state')]).toEqual([error, error, 'state of the app'])
      expect(given.get('error_description')?.length).toBeGreaterThan(10)
    }
  })

  test('400 an unknown client, or an unregistered way back, is an error page and never a redirect', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    for (const link of [
      '/oauth2/authorize',
      authorizeLink('unknown'),
      authorizeLink(application.id, { redirect_uri: undefined }),
      authorizeLink(application.id, { redirect_uri: '' }),
      authorizeLink(application.id, { redirect_uri: `${CALLBACK}/` }),
      authorizeLink(application.id, { redirect_uri: 'https://evil.example/callback' }),
    ]) {
      const seen = await person.open(link)
      expect([link, seen.status, seen.location]).toEqual([link, 400, null])
      expect(seen.html).toContain('The developer of the application must correct it')
    }
    for (const twice of ['redirect_uri=https://evil.example', 'client_id=unknown', 'state=other']) {
      const seen = await person.open(`${authorizeLink(application.id)}&state=one&${twice}`)
      expect([twice, seen.status, seen.location]).toEqual([twice, 400, null])
      expect(seen.html).toContain('the value must be given once')
    }
  })

  test('400 a consent form with an altered request is refused the same way', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    await person.browse(authorizeLink(application.id))
    const request =
      authorizeLink(application.id, { redirect_uri: 'https://evil.example' }).split('?')[1] ?? ''
    const seen = await person.post('/oauth2/consent', { decision: 'allow', request })
    expect([seen.status, seen.location]).toEqual([400, null])
  })

  test('302 if another person has logged in meanwhile, the question is asked again', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    const shown = await person.browse(authorizeLink(application.id))
    await person.browse('/account')
    await person.submit('/logout')
    await person.logIn(server().world.users[0]?.login ?? '')
    person.seen = shown
    const seen = await person.post('/oauth2/consent', { decision: 'allow', csrf: '' })
    expect(seen.status).toBe(403)
    await person.browse(authorizeLink(application.id))
    const asBefore = shown.forms.find(form => form.action === '/oauth2/consent')?.fields.user_id ?? ''
    const refused = await person.post('/oauth2/consent', { decision: 'allow', user_id: asBefore })
    expect(refused.location).toStartWith('/oauth2/authorize?')
  })

  test('200 switching accounts leads to the log-in and back to the question', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    await person.browse(authorizeLink(application.id))
    const seen = await person.submit('/logout')
    expect(seen.html).toContain('Log in')
    const { login = '', password = '' } = server().world.users[1] ?? {}
    expect((await person.submit('/login', { login, password })).html).toContain('asks for access')
  })

  test('200 the same pages answer under /auth', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    const seen = await person.browse(authorizeLink(application.id).replace('/oauth2/', '/auth/'))
    expect(seen.html).toContain('asks for access')
  })

  test('200 whatever an application calls itself, it is text', async () => {
    for (const name of [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "' onfocus='alert(1)",
    ]) {
      const application = await register(server(), { name })
      const person = await loggedIn(server())
      const { html } = await person.browse(authorizeLink(application.id))
      expect(html).not.toContain('<script')
      const handlers: string[] = []
      new HTMLRewriter()
        .on('[onerror], [onfocus], img[src=x]', { element: each => void handlers.push(each.tagName) })
        .transform(html)
      expect(handlers).toEqual([])
    }
  })

  test('200 nothing may frame, run or cache the page', async () => {
    const application = await register(server())
    const { headers } = await new Person(server()).browse(authorizeLink(application.id))
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toBeTruthy()
  })
})
