/** Logging in and out, signing up, and who is kept from guessing. */
import { afterAll, beforeAll, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { Networks, readNetworks } from '../../src/kit/networks.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { startTestServer } from '../support/server.ts'

onEachStore('the log-in page', {}, server => {
  usingCheapPasswords()
  const someone = () => server().world.users[0] ?? { login: '', password: '', id: '' }

  test('200 logs in, in any case, and leads to the account', async () => {
    const person = new Person(server())
    await person.browse('/login')
    const { login, password } = someone()
    const seen = await person.submit('/login', { login: ` ${login.toUpperCase()} `, password })
    expect(seen.html).toContain('Connected applications')
    expect(person.cookie('__Host-strand-session')).toMatch(/^sses_/)
    expect((await person.open('/login')).location).toBe('/account')
  })

  test('200 logging in gives a session that is new, and the old one ends', async () => {
    const person = new Person(server())
    await person.logIn(someone().login)
    const first = person.cookies
    await person.browse('/account')
    await person.submit('/logout')
    expect(person.cookie('__Host-strand-session')).toBeUndefined()
    await person.logIn(someone().login)
    expect(person.cookies).not.toBe(first)
    const thief = new Person(server())
    thief.headers = { Cookie: first }
    expect((await thief.open('/account')).location).toBe('/login?next=/account')
  })

  test('401 a wrong password, an unknown name and an account without a password get the same answer', async () => {
    const [locked] = await server().control('POST', '/users', { login: `nopass_${Date.now() % 100_000}` })
    const messages = new Set<string>()
    for (const [login, password] of [
      [someone().login, 'wrong password'],
      ['nobody_at_all', 'wrong password'],
      ['not a name', 'wrong password'],
      [locked.login, ''],
      [locked.login, 'wrong password'],
      [server().world.users[1]?.login ?? '', 'x'.repeat(10_000)],
    ] as const) {
      const person = new Person(server())
      await person.browse('/login')
      const seen = await person.submit('/login', { login, password })
      expect(seen.status).toBe(401)
      expect(person.cookie('__Host-strand-session')).toBeUndefined()
      messages.add(/role="alert">([^<]*)</.exec(seen.html)?.[1] ?? '')
    }
    expect([...messages]).toEqual(['Incorrect user name or password.'])
  })

  test('302 leads to a path of this server and nowhere else', async () => {
    for (const [next, goesTo] of [
      ['/activate?device-code=ABC', '/activate?device-code=ABC'],
      ['https://evil.example', '/account'],
      ['//evil.example', '/account'],
      ['/\\evil.example', '/account'],
      ['/\t/evil.example', '/account'],
      ['javascript:alert(1)', '/account'],
      ['account', '/account'],
    ] as const) {
      const person = new Person(server())
      await person.browse(`/login?next=${encodeURIComponent(next)}`)
      const { login, password } = someone()
      const seen = await person.post('/login', { login, password, next })
      expect([next, seen.location]).toEqual([next, goesTo])
    }
  })

  test('200 what a person typed comes back as text', async () => {
    const person = new Person(server())
    await person.browse('/login')
    const { html } = await person.submit('/login', { login: '"><script>alert(1)</script>', password: 'x' })
    expect(html).not.toContain('<script')
    expect(html).toContain('&quot;>&lt;script>')
  })

  test('404 sign-up is closed unless it was opened', async () => {
    const person = new Person(server())
    expect((await person.open('/signup')).status).toBe(404)
    expect((await person.postRaw('/signup', { login: 'me', password: 'long enough' }, {})).status).toBe(404)
    expect((await person.browse('/login')).html).not.toContain('/signup')
  })

  test('302 the operator sets a password, and who came in with the old one is out', async () => {
    const login = `reset_${Math.floor(Math.random() * 1e9)}`
    const [{ id }] = await server().control('POST', '/users', { login, password: 'the first one' })
    const person = new Person(server())
    await person.browse('/login')
    await person.submit('/login', { login, password: 'the first one' })
    const [{ access_token: token }] = await server().control('POST', '/tokens', {
      client_id: server().world.client.id,
      user_id: id,
    })
    await server().control('PUT', `/users/${id}`, { password: 'the second one' })
    expect((await person.open('/account')).location).toBe('/login?next=/account')
    expect((await server().call({ path: '/oauth2/validate', token })).status).toBe(401)
    await person.browse('/login')
    expect((await person.submit('/login', { login, password: 'the first one' })).status).toBe(401)
    expect((await person.submit('/login', { login, password: 'the second one' })).status).toBe(200)
  })

  test('302 a deleted user is logged out', async () => {
    const login = `gone_${Math.floor(Math.random() * 1e9)}`
    const [{ id }] = await server().control('POST', '/users', { login, password: 'the only one' })
    const person = new Person(server())
    await person.browse('/login')
    await person.submit('/login', { login, password: 'the only one' })
    await server().control('DELETE', `/users/${id}`)
    expect((await person.open('/account')).location).toBe('/login?next=/account')
  })

  test('302 a session ends by itself, and lives on while it is used', async () => {
    const person = new Person(server())
    await person.logIn(someone().login)
    for (let weeks = 0; weeks < 3; weeks++) {
      await server().control('POST', '/clock', { advance_seconds: 20 * 24 * 3600 })
      expect((await person.open('/account')).status).toBe(200)
    }
    await server().control('POST', '/clock', { advance_seconds: 31 * 24 * 3600 })
    expect((await person.open('/account')).location).toBe('/login?next=/account')
  })
})

onEachStore('an open sign-up', { config: { signUp: true } }, server => {
  test('200 makes an account that is logged in', async () => {
    const person = new Person(server())
    await person.browse('/login')
    expect(person.seen?.html).toContain('/signup')
    await person.browse('/signup')
    const seen = await person.submit('/signup', { login: 'New_Person', password: 'long enough' })
    expect(seen.html).toContain('new_person')
    const other = new Person(server())
    await other.browse('/login')
    expect((await other.submit('/login', { login: 'new_person', password: 'long enough' })).status).toBe(200)
  })

  test('400 and 409 state what to do, and create nothing', async () => {
    const person = new Person(server())
    for (const [login, password, status, sentence] of [
      ['with space', 'long enough', 400, 'lowercase letters, digits and underscores'],
      ['x'.repeat(26), 'long enough', 400, 'at most 25'],
      ['', 'long enough', 400, 'lowercase letters'],
      ['somebody_new', 'short', 400, 'at least 8 characters'],
      ['somebody_new', 'x'.repeat(201), 400, 'at most 200 characters'],
      [server().world.broadcaster.login, 'long enough', 409, 'is taken'],
      ['studio', 'long enough', 409, 'is reserved'],
    ] as const) {
      await person.browse('/signup')
      const seen = await person.submit('/signup', { login, password })
      expect(seen.status).toBe(status)
      expect(seen.html).toContain(sentence)
    }
    expect((await server().control('GET', '/users?login=somebody_new')).length).toBe(0)
  })
})

describe('guessing', () => {
  let verify: Mock<typeof Bun.password.verify>
  beforeAll(() => {
    verify = spyOn(Bun.password, 'verify')
  })
  afterAll(() => verify.mockRestore())

  /** Logs in with a form that the browser has, from an address that a proxy forwards. */
  async function guess(person: Person, login: string, from: string): Promise<number> {
    const fields = person.seen?.forms.find(form => form.action === '/login')?.fields ?? {}
    const forwarded = { 'X-Forwarded-For': from }
    const page = person.seen
    const { status } = await person.postRaw('/login', { ...fields, login, password: 'a guess' }, forwarded)
    person.seen = page
    return status
  }

  test('429 at one account: ten guesses a minute are looked at, from one address or from a thousand', async () => {
    const server = await startTestServer('sqlite', {
      config: { trustedProxies: readNetworks(['127.0.0.0/8']) ?? new Networks() },
    })
    try {
      const person = new Person(server)
      await person.browse('/login')
      const [one, two] = server.world.users.map(user => user.login)
      const statuses = new Map<number, number>()
      const began = performance.now()
      for (let n = 0; n < 2000; n += 100) {
        const batch = Array.from({ length: 100 }, (_, k) =>
          guess(person, one ?? '', `10.${(n + k) % 250}.${Math.floor((n + k) / 250)}.1`),
        )
        for (const status of await Promise.all(batch)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      const minutes = (performance.now() - began) / 60_000
      const checked = statuses.get(401) ?? 0
      expect(checked).toBeGreaterThanOrEqual(8)
      expect(checked).toBeLessThanOrEqual(8 + 2 * minutes)
      expect(verify.mock.calls).toHaveLength(checked)
      expect([...statuses.keys()].sort()).toEqual([401, 429])
      // Not even the right password is looked at now; that of another user is.
      const password = server.world.users[0]?.password ?? ''
      expect((await person.submit('/login', { login: one ?? '', password })).status).toBe(429)
      await person.browse('/login')
      expect((await person.submit('/login', { login: two ?? '', password })).status).toBe(200)
    } finally {
      await server.stop()
    }
  })
})
