import { describe, expect, test } from 'bun:test'
import { LocalAttempts } from '../../src/auth/attempts.ts'

const MINUTE = 60_000

describe('limits on guessing', () => {
  let now = 0
  const fresh = (limits = { perSubject: 10, perAddress: 100, overall: 1000 }) => {
    now = 0
    return new LocalAttempts(limits, () => now)
  }
  const many = (
    attempts: LocalAttempts,
    count: number,
    subject: (n: number) => string,
    address: (n: number) => string,
  ) => Array.from({ length: count }, (_, n) => attempts.begin(subject(n), address(n))).filter(Boolean).length

  test('about one subject, from many addresses', () => {
    const attempts = fresh()
    expect(
      many(
        attempts,
        900,
        () => 'login a',
        n => `10.0.${n % 250}.${Math.floor(n / 250)}`,
      ),
    ).toBe(10)
    expect(attempts.begin('login b', '10.9.9.9')).toBe(true)
  })

  test('from one address, about many subjects; an IPv6 network is one address', () => {
    const attempts = fresh()
    expect(
      many(
        attempts,
        900,
        n => `login ${n}`,
        () => '10.0.0.1',
      ),
    ).toBe(100)
    expect(attempts.begin('login x', '10.0.0.2')).toBe(true)
    expect(
      many(
        attempts,
        900,
        n => `login ${n + 1000}`,
        n => `2001:db8:1:2::${n.toString(16)}`,
      ),
    ).toBe(100)
    expect(attempts.begin('login y', '2001:db8:1:3::1')).toBe(true)
  })

  test('altogether', () => {
    const attempts = fresh()
    expect(
      many(
        attempts,
        3000,
        n => `login ${n}`,
        n => `10.1.${n % 250}.${Math.floor(n / 250)}`,
      ),
    ).toBe(1000)
  })

  test('what is refused takes nothing away from the others', () => {
    const attempts = fresh({ perSubject: 10, perAddress: 20, overall: 1000 })
    many(
      attempts,
      500,
      () => 'login a',
      () => '10.0.0.1',
    )
    expect(
      many(
        attempts,
        500,
        n => `login ${n}`,
        () => '10.0.0.1',
      ),
    ).toBe(10)
  })

  test('a right attempt is given back, and the count of its subject begins anew', () => {
    const attempts = fresh()
    for (let n = 0; n < 500; n++) {
      expect(attempts.begin('login a', '10.0.0.1')).toBe(true)
      attempts.succeeded('login a', '10.0.0.1')
    }
    many(
      attempts,
      9,
      () => 'login a',
      () => '10.0.0.1',
    )
    expect(attempts.begin('login a', '10.0.0.1')).toBe(true)
    attempts.succeeded('login a', '10.0.0.1')
    expect(
      many(
        attempts,
        20,
        () => 'login a',
        () => '10.0.0.1',
      ),
    ).toBe(10)
  })

  test('a bucket fills up again over a quarter of an hour, and never above its limit', () => {
    const attempts = fresh()
    many(
      attempts,
      20,
      () => 'login a',
      () => '10.0.0.1',
    )
    now += 1.4 * MINUTE
    expect(attempts.begin('login a', '10.0.0.1')).toBe(false)
    now += 0.2 * MINUTE
    expect(attempts.begin('login a', '10.0.0.1')).toBe(true)
    now += 1000 * MINUTE
    expect(
      many(
        attempts,
        50,
        () => 'login a',
        () => '10.0.0.1',
      ),
    ).toBe(10)
  })

  test('in any minute at most ten are looked at about one subject', () => {
    const attempts = fresh()
    const at: number[] = []
    for (; now < 60 * MINUTE; now += 500) if (attempts.begin('login a', '10.0.0.1')) at.push(now)
    for (const from of at)
      expect(at.filter(each => each >= from && each < from + MINUTE).length).toBeLessThanOrEqual(10)
  })

  test('a million subjects do not take all memory, and do not lift the limit on all', () => {
    const attempts = fresh({ perSubject: 10, perAddress: 1e9, overall: 150_000 })
    expect(
      many(
        attempts,
        300_000,
        n => `login ${n}`,
        () => '10.0.0.1',
      ),
    ).toBe(150_000)
  })
})
