/** Limits on guessing, as one process counts and as several do: they behave the same. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Attempts,
  countAttempt,
  LOGIN_LIMITS,
  LocalAttempts,
  SharedAttempts,
} from '../../src/auth/attempts.ts'
import { Unavailable } from '../../src/store/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

const MINUTE = 60_000
const slowly = (capacity: number) => ({ capacity, fullAfterSeconds: 86_400 })
/** In the proportions of the real ones, but fewer for all subjects, and nothing comes back while a test runs. */
const LIMITS = {
  what: 'login',
  perSite: slowly(40),
  perNetwork: slowly(15),
  perSubjectAndNetwork: slowly(LOGIN_LIMITS.perSubjectAndNetwork.capacity),
  perSubject: slowly(LOGIN_LIMITS.perSubject.capacity),
  perKnownBrowser: slowly(LOGIN_LIMITS.perKnownBrowser.capacity),
}
const { perSite, perNetwork, perSubjectAndNetwork, perSubject, perKnownBrowser } = LIMITS

let subjects = 0
/** Names and networks that no other test has used: those in a store stay. */
const newSubject = () => `login user${++subjects}`
let networks = 0
const newAddress = () => {
  networks += 1
  return `10.${networks >> 16}.${(networks >> 8) & 255}.${networks & 255}`
}
const newSite = () => `2001:db8:${(++networks).toString(16)}`

async function many(count: number, begin: (n: number) => unknown): Promise<number> {
  let begun = 0
  for (let n = 0; n < count; n++) if (await begin(n)) begun += 1
  return begun
}

function describeAttempts(title: string, attemptsOf: () => Attempts): void {
  describe(`limits on guessing, counted ${title}`, () => {
    test('a network that guesses at an account is locked out of it, and others are not', async () => {
      const attempts = attemptsOf()
      const [subject, attacker, other] = [newSubject(), newAddress(), newAddress()]
      expect(await many(50, () => attempts.begin(subject, attacker))).toBe(perSubjectAndNetwork.capacity)
      expect(await attempts.begin(subject, other)).toBe(true)
      expect(await attempts.begin(newSubject(), attacker)).toBe(true)
    })

    test('many networks gain nothing at one account', async () => {
      const attempts = attemptsOf()
      const subject = newSubject()
      expect(await many(40, () => attempts.begin(subject, newAddress()))).toBe(perSubject.capacity)
      expect(await attempts.begin(newSubject(), newAddress())).toBe(true)
    })

    test('a known browser gets in while all others are locked out, and has a separate limit', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      await many(40, () => attempts.begin(subject, newAddress()))
      expect(await attempts.begin(subject, address)).toBe(false)
      expect(await many(50, () => attempts.begin(subject, address, 'mine'))).toBe(perKnownBrowser.capacity)
      expect(await attempts.begin(subject, address, 'another of mine')).toBe(true)
      expect(await attempts.begin(newSubject(), address, 'mine')).toBe(true)
    })

    test('wrong attempts of a known browser lock out no other browser', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      await many(50, () => attempts.begin(subject, address, 'mine'))
      expect(await attempts.begin(subject, address)).toBe(true)
    })

    test('one network at many accounts; an IPv6 network counts as one, and so does a site of them', async () => {
      const attempts = attemptsOf()
      const address = newAddress()
      expect(await many(30, () => attempts.begin(newSubject(), address))).toBe(perNetwork.capacity)
      expect(await attempts.begin(newSubject(), newAddress())).toBe(true)
      const site = newSite()
      const from = (network: number) => (n: number) =>
        attempts.begin(newSubject(), `${site}:${network}::${n}`)
      expect(await many(30, from(1))).toBe(perNetwork.capacity)
      let begun = perNetwork.capacity
      for (const network of [2, 3, 4, 5]) begun += await many(20, from(network))
      expect(begun).toBe(perSite.capacity)
      expect(await attempts.begin(newSubject(), `${newSite()}::1`)).toBe(true)
    })

    test('what is refused takes nothing away from the others', async () => {
      const attempts = attemptsOf()
      const [subject, attacker] = [newSubject(), newAddress()]
      await many(50, () => attempts.begin(subject, attacker))
      const left = perSubject.capacity - perSubjectAndNetwork.capacity
      expect(await many(20, () => attempts.begin(subject, newAddress()))).toBe(left)
      expect(await many(30, () => attempts.begin(newSubject(), attacker))).toBe(
        perNetwork.capacity - perSubjectAndNetwork.capacity,
      )
    })

    test('a right attempt is given back, and its network may be wrong as often as at first', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      for (let n = 0; n < 30; n++) {
        expect(await attempts.begin(subject, address)).toBe(true)
        await attempts.succeeded(subject, address)
      }
      await many(perSubjectAndNetwork.capacity - 1, () => attempts.begin(subject, address))
      expect(await attempts.begin(subject, address)).toBe(true)
      await attempts.succeeded(subject, address)
      // Over all networks the wrong ones still count.
      const left = perSubject.capacity - (perSubjectAndNetwork.capacity - 1)
      expect(await many(20, () => attempts.begin(subject, address))).toBe(left)
    })

    test('an attempt that was not checked is given back, and never more than was taken', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      for (const browser of [undefined, 'mine']) {
        for (let n = 0; n < 30; n++) {
          expect(await attempts.begin(subject, address, browser)).toBe(true)
          await attempts.giveBack(subject, address, browser)
        }
        await attempts.giveBack(subject, address, browser)
      }
      expect(await many(20, () => attempts.begin(subject, address))).toBe(perSubjectAndNetwork.capacity)
      expect(await many(20, () => attempts.begin(subject, address, 'mine'))).toBe(perKnownBrowser.capacity)
    })

    test('names of any length and with anything in them are counted', async () => {
      const attempts = attemptsOf()
      for (const text of ['x'.repeat(60_000), '\0', '\ud800', 'é', '__proto__', 'constructor']) {
        const subject = `${newSubject()} ${text}`
        const address = newAddress()
        expect(await many(20, () => attempts.begin(subject, address))).toBe(perSubjectAndNetwork.capacity)
        expect(await many(20, () => attempts.begin(subject, address, text))).toBe(perKnownBrowser.capacity)
      }
    })

    test('a subject that has the name of the count of another one has separate counts', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      for (const name of [address, `${address} ${subject}`, `${subject} from ${address}`, `mine ${subject}`])
        await many(20, () => attempts.begin(name, newAddress()))
      expect(await many(20, () => attempts.begin(subject, address))).toBe(perSubjectAndNetwork.capacity)
      expect(await many(20, () => attempts.begin(subject, address, 'mine'))).toBe(perKnownBrowser.capacity)
    })

    test('many at once are no way around', async () => {
      const attempts = attemptsOf()
      const [subject, address] = [newSubject(), newAddress()]
      const begun = await Promise.all(
        Array.from({ length: 30 }, async () => attempts.begin(subject, address)),
      )
      expect(begun.filter(Boolean)).toHaveLength(perSubjectAndNetwork.capacity)
    })

    test('a check that fails is not counted; a wrong one is', async () => {
      const attempts = attemptsOf()
      const attempt = [newSubject(), newAddress(), undefined] as const
      const failing = () =>
        countAttempt(attempts, [...attempt], () => Promise.reject(new Unavailable('the store is away')))
      for (let n = 0; n < 30; n++) await expect(failing()).rejects.toThrow('the store is away')
      for (let n = 0; n < perSubjectAndNetwork.capacity; n++)
        expect(await countAttempt(attempts, [...attempt], async () => undefined)).toBe('wrong')
      expect(await countAttempt(attempts, [...attempt], async () => 'opened')).toBe('too_many')
    })
  })
}

describeAttempts('by a process for itself', () => new LocalAttempts(LIMITS))

for (const engine of engines) {
  describe(`on ${engine}`, () => {
    let store: Store
    let close: () => Promise<void>
    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
    })
    afterAll(() => close())

    describeAttempts('by several processes together', () => new SharedAttempts(LIMITS, store))
  })
}

describe('limits on guessing over time', () => {
  let now = 0
  const fresh = () => {
    now = 0
    return new LocalAttempts(LOGIN_LIMITS, () => now)
  }

  test('a network that was locked out gets another attempt every three minutes, and never more than at first', () => {
    const attempts = fresh()
    const begin = () => attempts.begin('login a', '10.0.0.1')
    while (begin());
    now += 2.9 * MINUTE
    expect(begin()).toBe(false)
    now += 0.2 * MINUTE
    expect(begin()).toBe(true)
    now += 1000 * MINUTE
    let begun = 0
    while (begin()) begun += 1
    expect(begun).toBe(perSubjectAndNetwork.capacity)
  })

  test('in any minute at most ten attempts of strangers at one account are checked', () => {
    const attempts = fresh()
    const at: number[] = []
    for (let n = 0; now < 30 * MINUTE; now += 500, n++)
      if (attempts.begin('login a', `10.0.${n >> 8}.${n & 255}`)) at.push(now)
    for (const from of at)
      expect(at.filter(each => each >= from && each < from + MINUTE).length).toBeLessThanOrEqual(10)
  })

  test('one network that never stops guessing leaves room for others all the time', () => {
    const attempts = fresh()
    let refused = 0
    for (; now < 120 * MINUTE; now += MINUTE) {
      for (let n = 0; n < 50; n++) attempts.begin('login a', '10.0.0.1')
      if (attempts.begin('login a', '10.0.0.2')) attempts.succeeded('login a', '10.0.0.2')
      else refused += 1
    }
    expect(refused).toBe(0)
  })

  test('memory stays bounded, however many names, networks and browsers come', () => {
    const attempts = fresh()
    let names = 0
    const flood = (count: number) => {
      for (const end = names + count; names < end; names++) {
        const address = `10.${names >> 16}.${(names >> 8) & 255}.${names & 255}`
        attempts.begin(`name ${names}`, address)
        attempts.begin('login a', address, `browser ${names}`)
      }
      Bun.gc(true)
      return process.memoryUsage().heapUsed
    }
    const before = flood(60_000)
    expect(flood(120_000) - before).toBeLessThan(before / 2)
  })
})
