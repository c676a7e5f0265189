/** A device's code, typed by a person who decides. */
import { expect, test } from 'bun:test'
import { loggedIn, register, type TestApplication, validate } from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

const start = async (server: TestServer, application: TestApplication) =>
  (
    await server.call({
      method: 'POST',
      path: '/oauth2/device',
      query: { client_id: application.id, scopes: 'user:read:follows chat:read' },
    })
  ).body

const poll = (server: TestServer, { id, secret }: TestApplication, device_code: string) =>
  server.call({
    method: 'POST',
    path: '/oauth2/token',
    body: {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: id,
      client_secret: secret,
      device_code,
      scopes: 'user:read:follows chat:read',
    },
  })

onEachStore('the activation page', {}, server => {
  test('200 typed, seen, allowed: the device gets its tokens, once', async () => {
    const application = await register(server(), { kind: 'public', name: 'Living room' })
    const { device_code, user_code } = await start(server(), application)
    expect((await poll(server(), application, device_code)).body.message).toBe('authorization_pending')
    const person = await loggedIn(server())
    const typed = `${user_code.slice(0, 4).toLowerCase()}-${user_code.slice(4)} `
    const form = await person.browse('/activate')
    expect(form.html).toContain('Enter the code shown')
    const asked = await person.browse(`/activate?device-code=${encodeURIComponent(typed)}`)
    expect(asked.html).toContain('Living room asks for access')
    expect(asked.html).toContain(user_code)
    expect((await poll(server(), application, device_code)).body.message).toBe('authorization_pending')
    const done = await person.submit('/activate', { decision: 'allow' })
    expect(done.html).toContain('Device connected')
    const answer = await poll(server(), application, device_code)
    expect(answer.body.scope).toEqual(['user:read:follows', 'chat:read'])
    const { body } = await validate(server(), answer.body.access_token)
    expect(body.login).toBe(server().world.broadcaster.login)
    expect((await poll(server(), application, device_code)).body.message).toBe('invalid device code')
    expect((await person.browse('/account')).html).toContain('Living room')
  })

  test('200 denied: the device gets the refusal', async () => {
    const application = await register(server(), { kind: 'public' })
    const { device_code, user_code } = await start(server(), application)
    const person = await loggedIn(server())
    await person.browse(`/activate?device-code=${user_code}`)
    const done = await person.submit('/activate', { decision: 'deny' })
    expect(done.html).toContain('Access denied')
    expect((await poll(server(), application, device_code)).body.message).toBe('access_denied')
    expect((await person.browse(`/activate?device-code=${user_code}`)).status).toBe(400)
  })

  test('200 asks who is not logged in first, with the code kept', async () => {
    const application = await register(server(), { kind: 'public' })
    const { verification_uri, user_code } = await start(server(), application)
    const link = new URL(verification_uri)
    expect(link.origin).toBe(server().url)
    const person = new Person(server())
    expect((await person.browse(link.pathname + link.search)).html).toContain('Log in')
    const { login, password } = server().world.users[0] ?? { login: '', password: '' }
    expect((await person.submit('/login', { login, password })).html).toContain(user_code)
  })

  test('400 an unknown or old code is named as such, and guessing is limited', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(server(), application)
    await server().control('POST', '/clock', { advance_seconds: 1801 })
    const person = await loggedIn(server(), server().world.users[2]?.login)
    const old = await person.browse(`/activate?device-code=${user_code}`)
    expect([old.status, old.html.includes('No device is waiting')]).toEqual([400, true])
    let last = old
    for (let n = 0; n < 12; n++)
      last = await person.browse(`/activate?device-code=BCDFGHJ${'KLMNPQRSTVWX'[n]}`)
    expect(last.html).toContain('Too many wrong codes')
  })

  /** What a script posts that has not looked the code up: its form, with the proof that it came from our pages. */
  const forge = async (person: Person, user_code: string, more: Readonly<Record<string, string>> = {}) => {
    const csrf = (await person.browse('/account')).forms[0]?.fields.csrf ?? ''
    const user_id = server().world.users.find(({ login }) => login === person.login)?.id ?? ''
    return person.postRaw(
      '/activate',
      { csrf, user_id, decision: 'allow', 'device-code': user_code, ...more },
      {},
    )
  }

  test('400 a code that was not looked up is not decided about, though a device waits with it', async () => {
    const application = await register(server(), { kind: 'public' })
    const { device_code, user_code } = await start(server(), application)
    const person = await loggedIn(server(), server().world.users[3]?.login)
    const seen = await forge(person, user_code)
    expect([seen.status, seen.html.includes('Enter the code first')]).toEqual([400, true])
    expect((await poll(server(), application, device_code)).body.message).toBe('authorization_pending')
    // The same for an unknown code: nothing is to be learned here.
    const other = await forge(person, 'BCDFGHJK')
    expect(other.html.replaceAll('BCDFGHJK', user_code)).toBe(seen.html)
  })

  test('429 codes that are posted are counted as those that are looked up', async () => {
    const person = await loggedIn(server(), server().world.users[4]?.login)
    const statuses: number[] = []
    for (let n = 0; n < 30; n++) statuses.push((await forge(person, `BCDFGH${LETTERS[n % 20]}X`)).status)
    expect(statuses.filter(status => status === 400).length).toBeLessThanOrEqual(10)
    const [last] = statuses.slice(-1)
    expect(last).toBe(429)
    expect(Number(person.seen?.headers.get('retry-after'))).toBeGreaterThan(0)
    // Looking up draws from the same counts.
    expect((await person.browse('/activate?device-code=BCDFGHJK')).html).toContain('Too many wrong codes')
  })

  test('400 the proof is of one device, one code and one browser', async () => {
    const application = await register(server(), { kind: 'public' })
    const [mine, theirs] = [await start(server(), application), await start(server(), application)]
    const login = server().world.users[6]?.login
    const person = await loggedIn(server(), login)
    const shown = await person.browse(`/activate?device-code=${mine.user_code}`)
    const { proof = '', device = '' } = shown.forms.find(form => form.action === '/activate')?.fields ?? {}
    expect([proof.length, device.length]).toEqual([43, 64])
    for (const [user_code, more] of [
      [theirs.user_code, { proof, device }],
      [mine.user_code, { proof, device: '0'.repeat(64) }],
      [mine.user_code, { proof: `${proof.slice(0, -2)}AA`, device }],
    ] as const) {
      expect((await forge(person, user_code, more)).html).toContain('Enter the code first')
    }
    const elsewhere = await loggedIn(server(), login)
    const seen = await forge(elsewhere, mine.user_code, { proof, device })
    expect(seen.html).toContain('Enter the code first')
    for (const { device_code } of [mine, theirs])
      expect((await poll(server(), application, device_code)).body.message).toBe('authorization_pending')
    const done = await forge(person, mine.user_code, { proof, device })
    expect(done.html).toContain('Device connected')
  })

  test('200 shows the code, who asks, and what matters first, as text', async () => {
    const { organization } = server().world
    const application = await register(server(), { kind: 'public', organization_id: organization.id })
    const scopes = ['constructor', '__proto__', 'chat:read', 'channel:read:stream_key']
    const { body } = await server().call({
      method: 'POST',
      path: '/oauth2/device',
      body: { client_id: application.id, scopes: scopes.join(' ') },
    })
    const person = await loggedIn(server())
    const { html } = await person.browse(`/activate?device-code=${body.user_code}`)
    expect(html).toContain(`<strong class="user-code">${body.user_code}</strong>`)
    expect(html).toContain(`An application by ${organization.name}`)
    expect(html).toContain('Only allow this if you have the device in front of you.')
    const items = [...html.matchAll(/<li>([^<]*)/g)].map(([, text]) => text)
    expect(items).toEqual([
      'See your stream key, which lets anyone broadcast as you',
      'constructor: has no effect on this server',
      '__proto__: has no effect on this server',
      'chat:read: has no effect on this server',
    ])
    await person.submit('/activate', { decision: 'allow' })
    expect((await person.browse('/account')).html).toContain('<div>__proto__: has no effect on this server')
  })

  test('phishing in the name of a confidential client gives the thief nothing', async () => {
    const { client, viewer } = server().world
    const { device_code, user_code } = await start(server(), client)
    // Even a person who falls for it, and allows what they see.
    const victim = await loggedIn(server(), server().world.users.find(({ id }) => id === viewer.id)?.login)
    await victim.browse(`/activate?device-code=${user_code}`)
    await victim.submit('/activate', { decision: 'allow' })
    const thief = { id: client.id }
    expect((await poll(server(), thief, device_code)).body).toEqual({
      status: 400,
      message: 'missing client secret',
    })
    expect((await poll(server(), { ...thief, secret: 'guessed' }, device_code)).body).toEqual({
      status: 403,
      message: 'invalid client secret',
    })
    const other = await register(server(), { kind: 'public' })
    expect((await poll(server(), other, device_code)).body.message).toBe('invalid device code')
    expect((await poll(server(), client, device_code)).status).toBe(200)
  })

  test('phishing in the name of a client without the device flow does not begin', async () => {
    const application = await register(server())
    const answer = await server().call({
      method: 'POST',
      path: '/oauth2/device',
      query: { client_id: application.id },
    })
    expect(answer.body).toEqual({
      status: 400,
      message: 'the device flow is off for this client; an operator can switch it on',
    })
  })

  test('400 a device of a client that may no longer', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(server(), application)
    const person = await loggedIn(server(), server().world.users[7]?.login)
    await person.browse(`/activate?device-code=${user_code}`)
    await server().control('PATCH', `/clients/${application.id}`, { device_flow: false })
    const seen = await person.submit('/activate', { decision: 'allow' })
    expect([seen.status, seen.html.includes('no longer waiting')]).toEqual([400, true])
  })

  test('400 a device that waits no longer when it is allowed', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(server(), application)
    const person = await loggedIn(server())
    await person.browse(`/activate?device-code=${user_code}`)
    await server().control('POST', '/clock', { advance_seconds: 1801 })
    const seen = await person.submit('/activate', { decision: 'allow' })
    expect([seen.status, seen.html.includes('no longer waiting')]).toEqual([400, true])
  })
})

onEachStore('guessing at the activation page', {}, server => {
  test('429 a device of an attacker allows no more guesses', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(server(), application)
    const person = await loggedIn(server(), server().world.users[5]?.login)
    let wrong = 0
    for (let n = 0; n < 150; n++) {
      await person.open(`/activate?device-code=${user_code}`)
      const seen = await person.open(`/activate?device-code=BCDF${LETTERS[n % 20]}${LETTERS[n % 19]}XX`)
      if (seen.html.includes('No device is waiting')) wrong += 1
    }
    expect(wrong).toBeLessThanOrEqual(100)
  })
})
