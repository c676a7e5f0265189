/** Attackers of the log-in page lock out themselves, and not the others. */
import { afterAll, afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { Networks, readNetworks } from '../../src/kit/networks.ts'
import { register } from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { scrape } from '../support/server/scrape.ts'
import type { TestServer } from '../support/server.ts'

const options = {
  config: { trustedProxies: readNetworks(['127.0.0.0/8']) ?? new Networks(), signUp: true },
}
const KNOWN_COOKIE = '__Host-strand-browser'
const PASSWORD = 'correct horse'

let addresses = 0
/** In a /24 that no other test has used. */
const newAddress = () => {
  addresses += 1
  return `10.${addresses >> 8}.${addresses & 255}.1`
}

/** A person with the log-in page open, at an address. */
async function at(server: TestServer, address = newAddress(), page = '/login'): Promise<Person> {
  const person = new Person(server)
  person.headers = { 'X-Forwarded-For': address }
  await person.browse(page)
  return person
}

/** Sends the log-in form; the page stays open for the next attempt. */
async function logIn(person: Person, login: string, password = 'a guess') {
  const page = person.seen
  const seen = await person.post('/login', { login, password })
  if (seen.status !== 302) person.seen = page
  return seen
}

let users = 0
async function newUser(server: TestServer): Promise<{ id: string; login: string }> {
  const login = `target_${++users}_${Date.now() % 1_000_000}`
  const [user] = await server.control('POST', '/users', { login, password: PASSWORD })
  return user
}

const { hash, verify } = Bun.password
const CHEAP = { algorithm: 'argon2id', memoryCost: 1024, timeCost: 1 } as const
const QUARTER = { algorithm: 'argon2id', memoryCost: 16_384 } as const

/** Hashes that take a millisecond: who waits for whom is the same, and the tests are over sooner. */
const spies = {
  hash: spyOn(Bun.password, 'hash'),
  verify: spyOn(Bun.password, 'verify'),
}

let gate = Promise.withResolvers<void>()

/** Checks from now on wait until they are let through. */
function hold() {
  gate = Promise.withResolvers<void>()
  makeCheap(gate.promise)
  return { checked: () => spies.verify.mock.calls.length, open: () => gate.resolve() }
}

function makeCheap(opened?: Promise<void>): void {
  spies.hash.mockClear().mockImplementation(async password => {
    await opened
    return hash(password, CHEAP)
  })
  spies.verify.mockClear().mockImplementation(async (password, against) => {
    await opened
    return verify(password, String(against).replace('m=65536,t=2', 'm=1024,t=1'))
  })
}

beforeEach(() => makeCheap())
afterEach(() => gate.resolve())
afterAll(() => {
  for (const spy of Object.values(spies)) spy.mockRestore()
})

/** Two checks that run, from a separate address: the next one waits. */
async function occupy(server: TestServer, checks: ReturnType<typeof hold>): Promise<Promise<unknown>[]> {
  const person = await at(server)
  const running = [logIn(person, 'someone'), logIn(person, 'someone')]
  while (checks.checked() < 2) await Bun.sleep(1)
  return running
}

/** The answers that come while the others wait, when there are so many. */
async function answered<T>(asked: readonly Promise<T>[], count: number): Promise<T[]> {
  const answers: T[] = []
  for (const each of asked) each.then(answer => answers.push(answer)).catch(() => undefined)
  while (answers.length < count) await Bun.sleep(1)
  return answers
}

async function waiting(server: TestServer, lane: string): Promise<number> {
  return (await scrape(server.url)).series.get(`strand_password_hashing_waiting{lane="${lane}"}`) ?? 0
}

onEachStore('an attack on the log-in page', options, server => {
  test('200 elsewhere while one address sends 95 attempts, each of which is answered', async () => {
    const { login } = await newUser(server())
    const other = await at(server())
    const checks = hold()
    const attacker = await at(server())
    const flood = Array.from({ length: 95 }, (_, n) => logIn(attacker, `victim_${n}`))
    for (const refused of await answered(flood, 89)) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(refused.html).toContain('Too many passwords are being checked')
    }
    const entered = logIn(other, login, PASSWORD)
    while ((await waiting(server(), 'stranger')) < 5) await Bun.sleep(1)
    checks.open()
    expect((await entered).status).toBe(302)
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter(status => status === 401)).toHaveLength(6)
    expect(statuses.filter(status => status === 503)).toHaveLength(89)
  })

  test('302 after attempts that were answered 503: what was not checked does not count', async () => {
    const { login } = await newUser(server())
    const checks = hold()
    const running = await occupy(server(), checks)
    const owner = await at(server())
    const asked = Array.from({ length: 30 }, () => logIn(owner, login))
    for (const refused of await answered(asked, 26)) expect(refused.status).toBe(503)
    checks.open()
    await Promise.all([...running, ...asked])
    expect((await logIn(owner, login, PASSWORD)).status).toBe(302)
  })

  test('302 after attempts that were abandoned: they leave the queue, and do not count', async () => {
    const { login } = await newUser(server())
    const owner = await at(server())
    const checks = hold()
    const running = await occupy(server(), checks)
    const form = owner.seen?.forms.find(each => each.action === '/login')
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController()
      const asked = Array.from({ length: 4 }, () =>
        fetch(`${server().url}/login`, {
          method: 'POST',
          signal: gone.signal,
          redirect: 'manual',
          headers: {
            ...owner.headers,
            Cookie: owner.cookies,
            'Content-Type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({ ...form?.fields, login, password: 'a guess' }).toString(),
        }).catch(() => undefined),
      )
      while ((await waiting(server(), 'stranger')) < 4) await Bun.sleep(1)
      gone.abort()
      await Promise.all(asked)
      while ((await waiting(server(), 'stranger')) > 0) await Bun.sleep(1)
    }
    checks.open()
    await Promise.all(running)
    expect(checks.checked()).toBe(2)
    expect((await logIn(owner, login, PASSWORD)).status).toBe(302)
  })

  test('302 after many checks that failed on our side', async () => {
    const { login } = await newUser(server())
    const owner = await at(server())
    spies.verify.mockImplementation(() => Promise.reject(new Error('out of memory')))
    for (let n = 0; n < 12; n++) expect((await logIn(owner, login)).status).toBe(500)
    makeCheap()
    expect((await logIn(owner, login, PASSWORD)).status).toBe(302)
  })

  test('429 for a network that guesses at an account, and 302 for its owner elsewhere', async () => {
    const { login } = await newUser(server())
    const attacker = await at(server())
    const statuses: number[] = []
    for (let n = 0; n < 8; n++) statuses.push((await logIn(attacker, login)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
    const locked = await logIn(attacker, login, PASSWORD)
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await logIn(await at(server()), login, PASSWORD)).status).toBe(302)
  })

  test('302 for a known browser while many networks guess; 429 for one that is not known', async () => {
    const { login } = await newUser(server())
    const owner = await at(server())
    expect((await logIn(owner, login, PASSWORD)).status).toBe(302)
    await owner.browse('/account')
    await owner.submit('/logout')
    expect(owner.cookie('__Host-strand-session')).toBeUndefined()
    expect(owner.cookie(KNOWN_COOKIE)).toMatch(/^[A-Za-z0-9]{20}[0-9a-f]{24}$/)
    const attackers = await Promise.all(Array.from({ length: 12 }, () => at(server())))
    const guessed: number[] = []
    for (const attacker of attackers) guessed.push((await logIn(attacker, login)).status)
    expect(guessed.filter(status => status === 401).length).toBeLessThanOrEqual(10)
    expect(guessed.at(-1)).toBe(429)

    const stranger = await at(server())
    expect((await logIn(stranger, login, PASSWORD)).status).toBe(429)
    // The address does not matter, and neither do typing errors of the owner, up to a limit.
    owner.headers = { 'X-Forwarded-For': newAddress() }
    await owner.browse('/login')
    for (let n = 0; n < 3; n++) expect((await logIn(owner, login)).status).toBe(401)
    expect((await logIn(owner, login, PASSWORD)).status).toBe(302)

    await owner.browse('/account')
    await owner.submit('/logout')
    await owner.browse('/login')
    const wrong: number[] = []
    for (let n = 0; n < 12; n++) wrong.push((await logIn(owner, login)).status)
    expect(wrong).toEqual([...Array(10).fill(401), 429, 429])
  })

  test('400 not even the account page locks out who is logged in, while others guess', async () => {
    const { login } = await newUser(server())
    const owner = await at(server())
    await logIn(owner, login, PASSWORD)
    for (let n = 0; n < 10; n++) await logIn(await at(server()), login)
    await owner.browse('/account')
    const changed = await owner.submit('/account/password', { current: PASSWORD, password: 'another horse' })
    expect(changed.html).toContain('Your password has been changed')
    // The browser that changed it stays known.
    await owner.submit('/logout')
    await owner.browse('/login')
    expect((await logIn(owner, login, 'another horse')).status).toBe(302)
  })

  test('429 for a browser that is known to another account, has a forged mark, or an old password', async () => {
    const [target, own] = [await newUser(server()), await newUser(server())]
    const former = await at(server())
    await logIn(former, target.login, PASSWORD)
    await server().control('PUT', `/users/${target.id}`, { password: 'a newer horse' })
    const attacker = await at(server())
    await logIn(attacker, own.login, PASSWORD)
    for (let n = 0; n < 10; n++) await logIn(await at(server()), target.login)
    const cookie = attacker.cookie(KNOWN_COOKIE) ?? ''
    const old = former.cookie(KNOWN_COOKIE) ?? ''
    const forgeries = [
      cookie,
      old,
      cookie.slice(0, 20) + old.slice(20),
      old.slice(0, 20) + cookie.slice(20),
      `${cookie.slice(0, 20)}${'0'.repeat(24)}`,
      cookie.slice(0, 20),
    ]
    for (const forged of forgeries) {
      const person = await at(server())
      person.headers = { ...person.headers, Cookie: `${person.cookies}; ${KNOWN_COOKIE}=${forged}` }
      const form = person.seen?.forms.find(each => each.action === '/login')
      const values = { ...form?.fields, login: target.login, password: 'a newer horse' }
      const seen = await fetch(`${server().url}/login`, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...person.headers, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(values).toString(),
      })
      expect([forged, seen.status]).toEqual([forged, 429])
    }
  })

  test('302 a browser remembers its last eight accounts, in a cookie that no page or log has', async () => {
    const person = await at(server())
    for (let n = 0; n < 10; n++) {
      const { login } = await newUser(server())
      await person.browse('/login')
      expect((await logIn(person, login, PASSWORD)).status).toBe(302)
      await person.browse('/account')
      await person.submit('/logout')
    }
    expect(person.cookie(KNOWN_COOKIE)).toHaveLength(20 + 8 * 24)
  })

  test('503 sign-up and the change of a password report it when the queue is full, and count nothing', async () => {
    const { login } = await newUser(server())
    const owner = await at(server())
    await logIn(owner, login, PASSWORD)
    await owner.browse('/account')
    const newcomer = await at(server(), newAddress(), '/signup')
    const checks = hold()
    const running = await occupy(server(), checks)
    const name = `newcomer_${Date.now() % 1_000_000}`
    const signUps = Array.from({ length: 20 }, () => {
      const page = newcomer.seen
      const sent = newcomer.post('/signup', { login: name, password: PASSWORD })
      newcomer.seen = page
      return sent
    })
    for (const refused of await answered(signUps, 16)) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(refused.html).toContain('Too many passwords are being checked')
    }
    const changes = Array.from({ length: 5 }, () => {
      const page = owner.seen
      const sent = owner.post('/account/password', { current: PASSWORD, password: 'another horse' })
      owner.seen = page
      return sent
    })
    for (const refused of await answered(changes, 3)) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(refused.html).toContain('Too many passwords are being checked')
    }
    checks.open()
    await Promise.all([...running, ...changes])
    const made = (await Promise.all(signUps)).map(({ status }) => status)
    expect(made.filter(status => status === 302)).toHaveLength(1)
    expect(made.filter(status => status === 503)).toHaveLength(16)
    // Four of the ten that a network has were used: the one that succeeded, and three that found the name taken.
    const later: number[] = []
    for (let n = 0; n < 8; n++) {
      const again = await at(server(), newcomer.headers['X-Forwarded-For'], '/signup')
      later.push((await again.post('/signup', { login: name, password: PASSWORD })).status)
    }
    expect(later).toEqual([...Array(6).fill(409), 429, 429])
  })
})

onEachStore('an attack on the secret of a client', options, server => {
  test('429 for the network that guesses; the servers of the client are answered as before', async () => {
    const { id: client_id, secret } = await register(server())
    const ask = (client_secret: string | undefined, address: string) =>
      server().call({
        method: 'POST',
        path: '/oauth2/token',
        body: { grant_type: 'client_credentials', client_id, client_secret },
        headers: { 'X-Forwarded-For': address },
      })
    const [attacker, own] = [newAddress(), newAddress()]
    const guessed: number[] = []
    for (let n = 0; n < 15; n++) guessed.push((await ask('a guess', attacker)).status)
    expect(guessed).toEqual([...Array(10).fill(403), ...Array(5).fill(429)])
    expect((await ask('the secret of yesterday', own)).status).toBe(403)
    for (const address of [attacker, own]) expect((await ask(secret, address)).status).toBe(200)
  })
})

onEachStore('a full queue of passwords', options, server => {
  test('is no way to learn which accounts exist: known and unknown names are answered alike, then and later', async () => {
    const { login } = await newUser(server())
    const names = [login, `nobody_${Date.now() % 1_000_000}`]
    const checks = hold()
    // Operators and strangers together fill all there is.
    const created = Array.from({ length: 80 }, (_, n) =>
      server().call({
        method: 'POST',
        path: '/control/users',
        body: { login: `filler_${n}_${Date.now() % 1_000_000}`, password: PASSWORD },
        token: server().world.operator_token,
      }),
    )
    for (const refused of await answered(created, 14)) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(refused.problem).toBe('passwords_busy')
    }
    const people = await Promise.all(names.map(() => at(server())))
    const asked = names.map((name, n) => Array.from({ length: 8 }, () => logIn(people[n] as Person, name)))
    for (const each of asked) await answered(each, 4)
    checks.open()
    const [known, unknown] = await Promise.all(
      asked.map(async each => (await Promise.all(each)).map(({ status }) => status).sort()),
    )
    expect(known).toEqual(unknown as number[])
    expect(known).toEqual([401, 401, 401, 401, 503, 503, 503, 503])
    await Promise.all(created)
    for (const name of names) expect((await logIn(await at(server()), name)).status).toBe(401)
  })

  test('and neither is the time that an answer takes', async () => {
    // A quarter of the real time is still far more than everything else in an answer.
    spies.hash.mockImplementation((password, options) =>
      hash(password, { ...(options as object), ...QUARTER }),
    )
    spies.verify.mockImplementation((password, against) =>
      verify(password, String(against).replace('m=65536,', `m=${QUARTER.memoryCost},`)),
    )
    const { login } = await newUser(server())
    const names = [login, `nobody_${Date.now() % 1_000_000}`]
    const took = new Map<string, number[]>(names.map(name => [name, []]))
    for (let n = 0; n < 4; n++) {
      for (const name of names) {
        const person = await at(server())
        const began = performance.now()
        expect((await logIn(person, name)).status).toBe(401)
        took.get(name)?.push(performance.now() - began)
      }
    }
    // The least of several is what the machine needs; an answer without a hash would take a fiftieth of it.
    const [known = 0, unknown = 0] = names.map(name => Math.min(...(took.get(name) ?? [])))
    expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(5)
  })
})
