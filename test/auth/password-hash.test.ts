/** A hash carries what comparing it costs: one that costs too much is refused at import, and never compared. */
import { describe, expect, spyOn, test } from 'bun:test'
import { hashViolation } from '../../src/auth/password-hash.ts'
import { hashPassword } from '../../src/auth/passwords.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'

const SALT = 'c2FsdHNhbHRzYWx0c2FsdA'
const HASH = 'aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g'
const argon2 = (parameters: string, kind = 'argon2id') => `$${kind}$v=19$${parameters}$${SALT}$${HASH}`

/** What libraries make by default, and what is recommended. */
const USUAL = [
  argon2('m=65536,t=2,p=1'),
  argon2('m=65536,t=3,p=4'),
  argon2('m=65536,t=4,p=1'),
  argon2('m=102400,t=2,p=8'),
  argon2('m=47104,t=1,p=1'),
  argon2('m=7168,t=5,p=1'),
  argon2('m=262144,t=3,p=1'),
  argon2('m=4096,t=3,p=1', 'argon2i'),
]

const ABSURD: readonly (readonly [hash: string, violation: string])[] = [
  [argon2('m=3145728,t=6,p=1'), 'm=262144 KiB'],
  [argon2('m=262145,t=1,p=1'), 'm=262144 KiB'],
  [argon2('m=4294967295,t=1,p=1'), 'm=262144 KiB'],
  [argon2('m=1024,t=17,p=1'), 't=16'],
  [argon2('m=8,t=4294967295,p=1'), 't=16'],
  [argon2('m=65536,t=13,p=1'), 'm times t'],
  [argon2('m=65536,t=1,p=17'), 'p=16'],
  [argon2('m=64,t=1,p=16'), 'm=8 KiB for each lane'],
]

const MALFORMED = [
  '',
  argon2('t=2,m=65536,p=1'),
  argon2('m=65536,t=2'),
  argon2('m=65536,t=2,p=1,data=QUFB'),
  argon2('m=1e9,t=2,p=1'),
  argon2('m=065536,t=2,p=1'),
  argon2('m=65536,t=0,p=1'),
  argon2('m=99999999999,t=1,p=1'),
  argon2('m=65536,t=2,p=1').replace('v=19', 'v=16'),
  argon2('m=65536,t=2,p=1').replace('$v=19', ''),
  argon2('m=65536,t=2,p=1', 'argon2x'),
  `${argon2('m=65536,t=2,p=1')}\n`,
  `$argon2id$v=19$m=65536,t=2,p=1$${'A'.repeat(87)}$${HASH}`,
  `$argon2id$v=19$m=65536,t=2,p=1$${SALT}$${'A'.repeat(87)}`,
  `$argon2id$v=19$m=65536,t=2,p=1$${SALT}$`,
  '$2b$31$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234',
]

describe('a password hash', () => {
  test('of our own is comparable', async () => {
    expect(hashViolation(await hashPassword('swordfish', { lane: 'operator' }))).toBeUndefined()
  })

  test.each(USUAL)('that is usual is comparable: %s', hash => {
    expect(hashViolation(hash)).toBeUndefined()
  })

  test.each(ABSURD)('that costs too much is not: %s', (hash, violation) => {
    expect(hashViolation(hash)).toContain(violation)
  })

  test.each(MALFORMED)('of another form is not: %s', hash => {
    expect(hashViolation(hash)).toContain('$argon2id$v=19$')
  })
})

onEachStore('a password hash with absurd parameters', {}, server => {
  usingCheapPasswords()

  for (const [hash, violation] of ABSURD) {
    test(`400 is not imported: ${hash.slice(0, 40)}`, async () => {
      const id = '987650001'
      const line = JSON.stringify({ type: 'user', id, login: 'costly_hash', password_hash: hash })
      const headers = { Authorization: `Bearer ${server().world.operator_token}` }
      for (const query of ['', '?dry_run=true']) {
        const init = { method: 'POST', headers, body: `${line}\n` }
        const answer = await fetch(`${server().url}/control/import${query}`, init)
        const { message } = (await answer.json()) as { message: string }
        expect([answer.status, message]).toEqual([400, expect.stringContaining(violation)])
        expect(message).toContain('"password_hash"')
        expect(message).not.toContain(SALT)
      }
    })
  }

  test('401 that is in the store is not compared, takes a comparison as usual, and is logged', async () => {
    const login = `costly_${Math.floor(Math.random() * 1e9)}`
    const [{ id: user_id }] = await server().control('POST', '/users', { login, password: 'the right one' })
    const password_hash = argon2('m=1048576,t=1,p=1')
    await server().strand.services.store.commands.changePassword({ user_id, password_hash, keep: '' })
    const before = server().logLines.length
    const verify = spyOn(Bun.password, 'verify')
    const earlier = verify.mock.calls.length
    const person = new Person(server())
    await person.browse('/login')
    const seen = await person.submit('/login', { login, password: 'the right one' })
    const compared = verify.mock.calls.slice(earlier).map(([, hash]) => hashViolation(String(hash)))
    expect(seen.status).toBe(401)
    expect(compared).toEqual([undefined])
    const warnings = server()
      .logLines.slice(before)
      .filter(line => line.includes('the stored hash exceeds the limits'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).not.toContain(SALT)
    await server().control('PUT', `/users/${user_id}`, { password: 'another one' })
    await person.browse('/login')
    expect((await person.submit('/login', { login, password: 'another one' })).status).toBe(200)
  })
})
