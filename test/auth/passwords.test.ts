/** The queue of password checks: who waits behind whom, who is refused, and that nothing runs for those who left. */
import { describe, expect, test } from 'bun:test'
import { PasswordQueue, PasswordsBusy, passwords, type Requester } from '../../src/auth/passwords.ts'
import type { Patience } from '../../src/kit/queues/bounded-queue.ts'
import { Metrics } from '../../src/kit/telemetry/metrics.ts'

const stranger = (address: string): Requester => ({ lane: 'stranger', address })
const known = (account: string, browser = `browser of ${account}`): Requester => ({
  lane: 'known',
  account,
  browser,
})
const OPERATOR: Requester = { lane: 'operator' }

/** A queue whose checks end when the test ends them. */
class Bench {
  readonly queue: PasswordQueue
  /** Names in the order in which they were begun. */
  readonly begun: string[] = []
  readonly #open: (() => void)[] = []

  constructor(maxWaitMilliseconds = 60_000) {
    this.queue = new PasswordQueue({ maxWaitMilliseconds })
  }

  /** What came of it: `done`, or why it was not begun. */
  ask(name: string, requester: Requester, waiting?: Patience): Promise<string> {
    return this.queue
      .inTurn(
        requester,
        async () => {
          this.begun.push(name)
          await new Promise<void>(resolve => this.#open.push(resolve))
          return 'done'
        },
        waiting,
      )
      .catch(error => (error instanceof PasswordsBusy ? error.reason : Promise.reject(error)))
  }

  /** Ends the check that was begun first, and lets the next begin. */
  async finishOne(): Promise<void> {
    this.#open.shift()?.()
    await Bun.sleep(0)
  }

  async finishAll(): Promise<void> {
    while (this.#open.length > 0) await this.finishOne()
  }

  /** Takes both places, so that the next one waits. */
  occupy(): void {
    for (const name of ['first', 'second']) void this.ask(name, OPERATOR)
  }

  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const metrics = new Metrics()
    this.queue.measure(metrics)
    const family = metrics.families.find(each => each.name === `strand_password_hashing_${name}`)
    return family?.samples.find(each => Bun.deepEquals(each.labels, labels))?.value
  }
}

describe('the queue of password checks', () => {
  test('two run at once, and the rest wait', async () => {
    const bench = new Bench()
    const asked = Array.from({ length: 5 }, (_, n) => bench.ask(`${n}`, stranger(`10.0.${n}.1`)))
    await Bun.sleep(0)
    expect(bench.begun).toEqual(['0', '1'])
    expect(bench.value('running')).toBe(2)
    expect(bench.value('waiting', { lane: 'stranger' })).toBe(3)
    await bench.finishAll()
    expect(await Promise.all(asked)).toEqual(Array(5).fill('done'))
    expect(bench.value('running')).toBe(0)
    expect(bench.value('waiting', { lane: 'stranger' })).toBe(0)
  })

  test('a check that throws hands on its place', async () => {
    const queue = new PasswordQueue()
    const fail = () => queue.inTurn(OPERATOR, () => Promise.reject(new Error('out of order')))
    for (let n = 0; n < 10; n++) await expect(fail()).rejects.toThrow('out of order')
    expect(await queue.inTurn(OPERATOR, async () => 'done')).toBe('done')
  })

  test('one address, however many it sends, neither keeps out nor delays another', async () => {
    const bench = new Bench()
    const flood = Array.from({ length: 95 }, (_, n) => bench.ask(`attack ${n}`, stranger('10.0.0.1')))
    const other = bench.ask('other', stranger('10.0.7.1'))
    await bench.finishOne()
    expect(bench.begun.at(-1)).toBe('other')
    await bench.finishAll()
    expect(await other).toBe('done')
    const outcomes = await Promise.all(flood)
    expect(outcomes.filter(each => each === 'done')).toHaveLength(6)
    expect(outcomes.filter(each => each === 'full')).toHaveLength(89)
    expect(bench.value('refused_total', { reason: 'full' })).toBe(89)
  })

  test.each([
    ['a /64', (n: number) => `2001:db8:1:2::${n.toString(16)}`, 4],
    ['a /48', (n: number) => `2001:db8:1:${n.toString(16)}::1`, 16],
    ['a /24', (n: number) => `10.0.0.${n}`, 16],
  ])('%s with many addresses has one share', async (_, address, most) => {
    const bench = new Bench()
    bench.occupy()
    const flood = Array.from({ length: 200 }, (_, n) => bench.ask('attack', stranger(address(n))))
    expect(bench.value('waiting', { lane: 'stranger' })).toBe(most)
    for (const n of [1, 2, 3]) void bench.ask('other', stranger(`192.0.2.${n}`))
    for (let n = 0; n < 6; n++) await bench.finishOne()
    expect(bench.begun.slice(2)).toEqual(['attack', 'other', 'attack', 'other', 'attack', 'other'])
    await bench.finishAll()
    expect((await Promise.all(flood)).filter(each => each === 'done')).toHaveLength(most)
  })

  test('a network that was not served before goes before two hundred that were', async () => {
    const bench = new Bench()
    bench.occupy()
    const attack = (n: number) => bench.ask('attack', stranger(`10.0.${n % 200}.1`))
    for (let n = 0; n < 200; n++) void attack(n)
    for (let n = 0; n < 400; n++) {
      void attack(n)
      await bench.finishOne()
    }
    void bench.ask('other', stranger('192.0.2.1'))
    await bench.finishOne()
    expect(bench.begun.at(-1)).toBe('other')
    await bench.finishAll()
  })

  test('memory is bounded, whatever callers come', async () => {
    const bench = new Bench()
    bench.occupy()
    for (let n = 0; n < 5000; n++) {
      void bench.ask('stranger', stranger(`10.${n >> 8}.${n & 255}.1`))
      void bench.ask('known', known(`account ${n}`))
      void bench.ask('operator', OPERATOR)
    }
    expect(bench.value('waiting', { lane: 'stranger' })).toBe(256)
    expect(bench.value('waiting', { lane: 'known' })).toBe(64)
    expect(bench.value('waiting', { lane: 'operator' })).toBe(64)
    await bench.finishAll()
  })

  test('a known browser goes before strangers, and cannot stop them', async () => {
    const bench = new Bench()
    bench.occupy()
    for (let n = 0; n < 50; n++) void bench.ask('stranger', stranger(`10.0.${n}.1`))
    for (let n = 0; n < 50; n++) void bench.ask('known', known(`account ${n}`))
    await bench.finishOne()
    expect(bench.begun.at(-1)).toBe('known')
    for (let n = 0; n < 11; n++) await bench.finishOne()
    const begun = bench.begun.slice(2)
    expect(begun.filter(each => each === 'known')).toHaveLength(8)
    expect(begun.filter(each => each === 'stranger')).toHaveLength(4)
    await bench.finishAll()
  })

  test('one account with many known browsers does not delay another by more than one check', async () => {
    const bench = new Bench()
    bench.occupy()
    for (let n = 0; n < 100; n++) void bench.ask('attack', known('attacker', `browser ${n}`))
    expect(bench.value('waiting', { lane: 'known' })).toBe(4)
    void bench.ask('owner', known('owner'))
    await bench.finishOne()
    await bench.finishOne()
    expect(bench.begun).toContain('owner')
    await bench.finishAll()
  })

  test('what has waited too long is refused and never begun', async () => {
    const bench = new Bench(20)
    bench.occupy()
    expect(await bench.ask('late', stranger('10.0.0.1'))).toBe('late')
    expect(await bench.ask('late', known('account'))).toBe('late')
    await bench.finishAll()
    expect(bench.begun).toEqual(['first', 'second'])
    expect(bench.value('refused_total', { reason: 'late' })).toBe(2)
    expect(bench.value('waiting', { lane: 'stranger' })).toBe(0)
  })

  test('what was abandoned leaves the queue, and makes room', async () => {
    const bench = new Bench()
    bench.occupy()
    const gone = new AbortController()
    const abandoned = Array.from({ length: 4 }, () => bench.ask('gone', stranger('10.0.0.1'), gone))
    expect(await bench.ask('fifth', stranger('10.0.0.1'))).toBe('full')
    gone.abort()
    expect(await Promise.all(abandoned)).toEqual(Array(4).fill('abandoned'))
    const next = bench.ask('next', stranger('10.0.0.1'))
    expect(await bench.ask('gone before it came', stranger('10.0.0.1'), gone)).toBe('abandoned')
    await bench.finishAll()
    expect(await next).toBe('done')
    expect(bench.begun).toEqual(['first', 'second', 'next'])
    expect(bench.value('abandoned_total')).toBe(5)
  })
})

describe('hashing', () => {
  test('an unknown account is refused in the time that a real hash takes: it has the same parameters', async () => {
    const verified: string[] = []
    const verify = Bun.password.verify
    Bun.password.verify = (password, hash, algorithm) => {
      verified.push(String(hash))
      return verify(password, hash, algorithm)
    }
    try {
      const hash = await passwords.inTurn(OPERATOR, turn => turn.hash('correct horse'))
      const matches = (password: string, against: string | null | undefined) =>
        passwords.inTurn(OPERATOR, turn => turn.matches(password, against))
      expect(await matches('correct horse', hash)).toBe(true)
      expect(await matches('wrong horse', hash)).toBe(false)
      for (const none of [null, undefined, '$argon2id$v=19$m=65536,t=2,p=1$unreadable', '$1$md5'])
        expect(await matches('correct horse', none)).toBe(false)
      const form = (text: string) => text.replaceAll(/[A-Za-z0-9+/]{43}/g, 'digest')
      expect(form(hash)).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$digest\$digest$/)
      expect(verified.filter(each => form(each) === form(hash))).toHaveLength(6)
    } finally {
      Bun.password.verify = verify
    }
  })

  test('a check that could not be made is neither right nor wrong', async () => {
    const verify = Bun.password.verify
    Bun.password.verify = () =>
      Promise.reject(Object.assign(new Error('no memory'), { code: 'PASSWORD_OUT_OF_MEMORY' }))
    try {
      const check = passwords.inTurn(OPERATOR, turn => turn.matches('x', null))
      await expect(check).rejects.toThrow('no memory')
    } finally {
      Bun.password.verify = verify
    }
  })
})
