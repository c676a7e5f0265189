/** Rate limits over several processes: the sum is the limit, whichever process is called. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { LOGIN_LIMITS, SharedAttempts } from '../../src/auth/attempts.ts'
import { LeasedLimiter } from '../../src/http/limits/leased-limiter.ts'
import type { Allowance } from '../../src/http/limits/rate-limit.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

const app = (client_id: string) => ({ kind: 'app', client_id, organization_id: null }) as const
const nowhere = () => ''

for (const engine of engines) {
  describe(`leases on ${engine}`, () => {
    let store: Store
    let close: () => Promise<void>
    beforeAll(async () => {
      ;({ store, close } = await openTestStore(engine))
    })
    afterAll(() => close())

    const limiters = (count: number, limit: number) =>
      Array.from(
        { length: count },
        // A machine that is busy must not look like a store that is away.
        () => new LeasedLimiter({ app: limit, user: limit, anonymous: limit }, store, 30_000),
      )

    test('four at ten times the limit admit no more than one bucket holds, and nearly all of it', async () => {
      const four = limiters(4, 600)
      const began = performance.now()
      let admitted = 0
      for (let n = 0; n < 6000; n += 100) {
        const taken = await Promise.all(
          Array.from({ length: 100 }, (_, k) => four[(n + k) % 4]?.take(app('greedy'), nowhere)),
        )
        admitted += taken.filter(each => each?.allowed).length
      }
      const bucket = 600 + ((performance.now() - began) * 600) / 60_000
      expect(admitted).toBeLessThanOrEqual(bucket)
      expect(admitted).toBeGreaterThanOrEqual(600 * 0.9)
    })

    test('a caller of one process alone meets the same limit', async () => {
      const [one, two] = limiters(2, 60)
      const taken: Allowance[] = []
      for (let n = 0; n < 70; n++) taken.push((await one?.take(app('faithful'), nowhere)) as Allowance)
      const admitted = taken.filter(each => each.allowed).length
      expect(admitted).toBeGreaterThanOrEqual(60)
      expect(admitted).toBeLessThanOrEqual(62)
      expect(taken[0]).toMatchObject({ allowed: true, limit: 60, remaining: 59 })
      expect(taken.at(-1)).toMatchObject({ allowed: false, remaining: 0 })
      // The other process has its allowance, a twentieth; after that the same bucket is empty.
      const elsewhere: boolean[] = []
      for (let n = 0; n < 10; n++)
        elsewhere.push((await two?.take(app('faithful'), nowhere))?.allowed ?? false)
      expect(elsewhere.filter(Boolean).length).toBeLessThanOrEqual(4)
      expect(elsewhere.slice(5)).toEqual([false, false, false, false, false])
      expect((await two?.take(app('another'), nowhere))?.allowed).toBe(true)
    })

    test('modest use of four takes no more than it uses: a burst behind it is let through', async () => {
      const four = limiters(4, 120)
      for (let n = 0; n < 40; n++) {
        expect((await four[n % 4]?.take(app('modest'), nowhere))?.allowed).toBe(true)
        await Bun.sleep(20)
      }
      const burst = await Promise.all(
        Array.from({ length: 60 }, (_, n) => four[n % 4]?.take(app('modest'), nowhere)),
      )
      expect(burst.filter(each => each?.allowed)).toHaveLength(60)
    })

    test('many callers who ask for little never reach the store', async () => {
      const untouched = {
        commands: { leasePoints: () => Promise.reject(new Error('the store was asked')) },
      } as unknown as Store
      const limiter = new LeasedLimiter({ app: 800, user: 800, anonymous: 800 }, untouched)
      for (let n = 0; n < 100_000; n++) {
        if (!limiter.takeLocally(app(`caller ${n}`), nowhere)?.allowed)
          throw new Error(`caller ${n} was not let through`)
      }
      for (let n = 0; n < 20; n++) {
        expect(await limiter.take(app('one of them'), nowhere)).toMatchObject({
          allowed: true,
          remaining: 799 - n,
        })
      }
      const metrics = new Metrics()
      limiter.measure(metrics)
      expect(exposition(metrics.families)).toContain('strand_rate_limit_leases_total{outcome="failed"} 0')
    })

    test('a caller who moves to fresh processes gets the documented share on top, and pays it back', async () => {
      const limit = 400
      const eight = limiters(8, limit)
      const began = performance.now()
      let admitted = 0
      // All of the bucket at the first, then the allowances of the others.
      for (const limiter of eight) {
        for (let refused = 0; refused < 3; ) {
          if ((await limiter.take(app('wandering'), nowhere)).allowed) admitted += 1
          else refused += 1
        }
      }
      const inflow = ((performance.now() - began) * limit) / 60_000
      expect(admitted).toBeGreaterThan(limit)
      expect(admitted).toBeLessThanOrEqual(Math.ceil(limit * (1 + 8 / 20) + inflow))
      const [debt] = await store.commands.leasePoints({
        requests: [{ name: 'app wandering', capacity: limit, wanted: 1, returned: 0, spent: 0, recent: 0 }],
        fullAfterSeconds: 60,
      })
      expect(debt).toEqual({ granted: 0, left: 0 })
    })

    test('what was spent while the bucket was full is not deducted from a later burst', async () => {
      const lease = async (name: string, spent: number, recent: number) => {
        const request = { name, capacity: 600, wanted: 1, returned: 0, spent, recent }
        const [grant] = await store.commands.leasePoints({ requests: [request], fullAfterSeconds: 60 })
        return grant
      }
      // Two hours of modest use, and 20 points just now.
      expect(await lease('modest for hours', 2000, 20)).toEqual({ granted: 1, left: 579 })
      // The bucket was in use all the time: all of it counts.
      expect((await lease('modest for hours', 2000, 20))?.granted).toBe(0)
    })

    test('modest use for a long time shows a full bucket', async () => {
      const [one] = limiters(1, 60_000)
      const remaining: number[] = []
      for (let n = 0; n < 40; n++) {
        remaining.push((await one?.take(app('patient'), nowhere))?.remaining ?? 0)
        await Bun.sleep(2)
      }
      expect(Math.min(...remaining)).toBeGreaterThanOrEqual(60_000 - 5)
    })

    test('buckets that many processes ask for in any order do not deadlock', async () => {
      const names = Array.from({ length: 40 }, (_, n) => `crossed ${n}`)
      const asked = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          store.commands.leasePoints({
            requests: (n % 2 === 0 ? names : names.toReversed()).map(name => ({
              name,
              capacity: 100,
              wanted: 10,
              returned: 0,
              spent: 0,
              recent: 0,
            })),
            fullAfterSeconds: 60,
          }),
        ),
      )
      const granted = asked.flat().reduce((sum, each) => sum + each.granted, 0)
      expect(granted).toBeGreaterThanOrEqual(40 * 100)
      expect(granted).toBeLessThanOrEqual(40 * 102)
    })

    test('0 switches it off', async () => {
      const [one] = limiters(1, 0)
      expect(await one?.take(app('any'), nowhere)).toMatchObject({ allowed: true, remaining: 800 })
    })

    test('while the store is away each counts for itself, with a quarter', async () => {
      const away = { commands: { leasePoints: () => Promise.reject(new Error('away')) } } as unknown as Store
      const alone = new LeasedLimiter({ app: 40, user: 40, anonymous: 40 }, away)
      let admitted = 0
      for (let n = 0; n < 40; n++) if ((await alone.take(app('any'), nowhere)).allowed) admitted += 1
      expect(admitted).toBe(10)
    })

    test('a store that does not answer keeps a request for a moment, and the next ones not at all', async () => {
      const silent = { commands: { leasePoints: () => new Promise(() => undefined) } } as unknown as Store
      const alone = new LeasedLimiter({ app: 400, user: 400, anonymous: 400 }, silent)
      let answer: Allowance | undefined
      for (let n = 0; n < 400; n++) {
        answer = alone.takeLocally(app('any'), nowhere)
        if (answer === undefined) break
        expect(answer.allowed).toBe(true)
      }
      expect(answer).toBeUndefined()
      expect((await alone.take(app('any'), nowhere)).allowed).toBe(true)
      for (let n = 0; n < 50; n++) expect(alone.takeLocally(app('any'), nowhere)).toBeDefined()
    })

    test('guesses at many processes are counted together', async () => {
      const limit = (capacity: number) => ({ capacity, fullAfterSeconds: 900 })
      const limits = { ...LOGIN_LIMITS, perSubject: limit(10), perNetwork: limit(25) }
      const four = Array.from({ length: 4 }, () => new SharedAttempts(limits, store))
      // The processes guess at the same time, each one guess after the other: a busy store refuses too many at once.
      const allowed = async (count: number, subject: string, address: string) => {
        const ofEach = four.map(async attempts => {
          let begun = 0
          for (let n = 0; n < Math.ceil(count / four.length); n++)
            if (await attempts.begin(subject, address)) begun += 1
          return begun
        })
        return (await Promise.all(ofEach)).reduce((sum, begun) => sum + begun, 0)
      }
      expect(await allowed(20, 'login a', '10.0.0.1')).toBe(5)
      expect(await allowed(20, 'login a', '10.0.0.2')).toBe(5)
      expect(await allowed(20, 'login a', '10.0.0.3')).toBe(0)
      for (const subject of ['b', 'c', 'd', 'e']) await allowed(20, `login ${subject}`, '10.0.0.1')
      expect(await allowed(20, 'login f', '10.0.0.1')).toBe(0)
      expect(await four[0]?.begin('login f', '10.0.0.2')).toBe(true)
    })

    test('one process has the turn, keeps it, and loses it when it asks no more', async () => {
      const ask = (holder: string, seconds: number) =>
        store.commands.takeTurn({ name: 'sweep', holder, seconds })
      expect(await ask('one', 60)).toBe(true)
      expect(await ask('two', 60)).toBe(false)
      expect(await ask('one', 0.05)).toBe(true)
      while (!(await ask('two', 60))) await Bun.sleep(5)
      expect(await ask('one', 60)).toBe(false)
      expect(await ask('two', 60)).toBe(true)
    })

    test('of many who ask at once one gets the turn', async () => {
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          store.commands.takeTurn({ name: 'once', holder: `process ${n}`, seconds: 60 }),
        ),
      )
      expect(asked.filter(Boolean)).toHaveLength(1)
    })
  })
}
