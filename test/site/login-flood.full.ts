/**
 * Two hundred addresses flood the log-in page of a server in a separate process. A browser that logged in before gets in
 * at once, and one that did not gets in as well. What was measured is printed.
 */
import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { Person } from '../support/browser/person.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { Canaries } from '../support/server/canaries.ts'
import { scrape } from '../support/server/scrape.ts'
import { createStorePlace, engines, type StorePlace, type TestServer } from '../support/server.ts'

const ATTACKERS = 200
/** How long each rests after an answer. All of them together stay under what the runtime sends at once. */
const REST_MILLISECONDS = 50
const PASSWORD = 'correct horse'
const KNOWN_LOGINS = 5

const places: StorePlace[] = []
afterEach(endAllProcesses)
afterAll(() => Promise.all(places.map(place => place.remove())))

interface Served {
  readonly url: string
  readonly operatorUrl: string
  create(login: string): Promise<void>
}

/** `strand serve` behind a proxy, which the test plays. */
async function serve(engine: (typeof engines)[number]): Promise<Served> {
  const place = await createStorePlace(engine)
  places.push(place)
  const listens = ['--listen', '127.0.0.1:0', '--operator-listen', '127.0.0.1:0']
  const strand = new StrandProcess(['serve', ...listens, '--data', place.folder], {
    environment: {
      STRAND_TRUSTED_PROXIES: '127.0.0.0/8',
      STRAND_OPERATOR_TOKEN: 'operator-token-for-this-test',
      ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
    },
  })
  await strand.serving()
  const line = strand.stderr.split('\n').find(each => each.includes('"msg":"serving"')) ?? '{}'
  const { url, control_url } = JSON.parse(line) as { url: string; control_url: string }
  const operatorUrl = new URL(control_url).origin
  return {
    url,
    operatorUrl,
    create: async login => {
      const answer = await fetch(`${operatorUrl}/control/users`, {
        method: 'POST',
        headers: {
          Authorization: 'Bearer operator-token-for-this-test',
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({ login, password: PASSWORD }),
      })
      expect(answer.status).toBe(200)
    },
  }
}

async function personAt({ url }: Served, address: string): Promise<Person> {
  const person = new Person({ url, canaries: new Canaries() } as TestServer)
  person.headers = { 'X-Forwarded-For': address }
  await person.browse('/login')
  return person
}

/** Logs in, as often as a person is asked to try again; how long that took, and in how many attempts. */
async function logIn(person: Person, login: string): Promise<{ milliseconds: number; attempts: number }> {
  const page = person.seen
  const began = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    person.seen = page
    const { status, headers } = await person.post('/login', { login, password: PASSWORD })
    if (status === 302) return { milliseconds: Math.round(performance.now() - began), attempts }
    expect(status).toBe(503)
    await Bun.sleep(Number(headers.get('retry-after')) * 1000)
  }
}

async function logOut(person: Person): Promise<void> {
  await person.browse('/account')
  await person.submit('/logout')
  await person.browse('/login')
}

/** Guesses at ever other names from many addresses, each in a separate network, until it is stopped. */
async function attack(served: Served) {
  const answers = new Map<number, number>()
  let stopped = false
  let names = 0
  const page = await personAt(served, '10.0.0.1')
  const fields = page.seen?.forms.find(form => form.action === '/login')?.fields ?? {}
  const guess = async (attacker: number) => {
    while (!stopped) {
      const response = await fetch(`${served.url}/login`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          Cookie: page.cookies,
          'Content-Type': 'application/x-www-form-urlencoded',
          'X-Forwarded-For': `10.1.${attacker}.7`,
        },
        body: new URLSearchParams({ ...fields, login: `name_${++names}`, password: 'a guess' }).toString(),
      }).catch(() => undefined)
      // Only when the server was stopped, after a failure.
      if (response === undefined) return
      await response.text()
      answers.set(response.status, (answers.get(response.status) ?? 0) + 1)
      await Bun.sleep(REST_MILLISECONDS)
    }
  }
  const attackers = Array.from({ length: ATTACKERS }, (_, n) => guess(n))
  return {
    answers,
    stop: async () => {
      stopped = true
      await Promise.all(attackers)
    },
  }
}

type Flood = Awaited<ReturnType<typeof attack>>

/** Who gets in while it lasts, and how long one check takes meanwhile. */
async function during(flood: Flood, { operatorUrl }: Served, owner: Person, newcomers: readonly Person[]) {
  const waiting = 'strand_password_hashing_waiting{lane="stranger"}'
  while (((await scrape(operatorUrl)).series.get(waiting) ?? 0) < ATTACKERS / 2) await Bun.sleep(20)
  const began = performance.now()
  const checkedBefore = flood.answers.get(401) ?? 0
  const known: number[] = []
  for (let n = 0; n < KNOWN_LOGINS; n++) {
    const { milliseconds, attempts } = await logIn(owner, 'owner')
    expect(attempts).toBe(1)
    known.push(milliseconds)
    await logOut(owner)
  }
  const strangers: string[] = []
  for (const newcomer of newcomers) {
    const { milliseconds, attempts } = await logIn(newcomer, 'newcomer')
    strangers.push(`${milliseconds} ms in ${attempts}`)
  }
  const checks = (flood.answers.get(401) ?? 0) - checkedBefore + KNOWN_LOGINS + newcomers.length
  // Two are computed at a time.
  const perCheck = (2 * (performance.now() - began)) / checks
  return { known, strangers, perCheck }
}

describe.each(engines)('two hundred addresses flood the log-in page on %s', engine => {
  test('a known browser gets in at once, and another one as well', async () => {
    const served = await serve(engine)
    await served.create('owner')
    await served.create('newcomer')
    const owner = await personAt(served, '192.0.2.1')
    await logIn(owner, 'owner')
    await logOut(owner)
    const alone = await logIn(owner, 'owner')
    await logOut(owner)
    const newcomers = [await personAt(served, '198.51.100.1'), await personAt(served, '203.0.113.1')]

    const flood = await attack(served)
    const { known, strangers, perCheck } = await during(flood, served, owner, newcomers).finally(flood.stop)

    const metrics = [
      `${engine}: log-in alone ${alone.milliseconds} ms`,
      `in the flood: one check ${Math.round(perCheck)} ms`,
      `known browser ${known.join(', ')} ms`,
      `strangers, one after the other, ${strangers.join(', ')} attempts`,
      `answers to attackers ${JSON.stringify(Object.fromEntries(flood.answers))}`,
    ]
    process.stdout.write(`${metrics.join('; ')}\n`)
    // Behind two that run and one of a stranger, with room for a machine that has other things to do.
    expect(Math.min(...known)).toBeLessThan(Math.max(2000, 4 * perCheck))
    expect(Math.max(...known)).toBeLessThan(Math.max(4000, 12 * perCheck))
  }, 180_000)
})
