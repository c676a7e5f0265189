/** More reads than PostgreSQL answers: what it can answer is answered, the rest is refused in time, and nothing else notices. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { asRequest } from '../../src/kit/request-scope.ts'
import type { Engine } from '../../src/store/engine.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { sql } from '../../src/store/sql/tag.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines, type StorePlace, startTestServer } from '../support/server.ts'

/** A read that takes 20 ms, and leaves a trace that it was begun. */
const SLOW_READ = sql`select pg_sleep(0.02), nextval('reads')`
/** Of one connection for reading, on a machine that does nothing else. */
const READS_PER_SECOND = 50
const SECONDS = 8

/** How fast this machine reads now, where 1 is as fast as can be and less is a busy machine. */
async function measureSpeed(engine: Engine): Promise<number> {
  const reads = 25
  const began = performance.now()
  for (let n = 0; n < reads; n++) await engine.db.get(SLOW_READ)
  return Math.min(1, reads / READS_PER_SECOND / ((performance.now() - began) / 1000))
}

describe.skipIf(!engines.includes('postgres'))('more reads than PostgreSQL answers', () => {
  let place: StorePlace
  let engine: Engine
  let superuser: SQL
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    superuser = new SQL(place.databaseUrl ?? '', { max: 1 })
    await superuser.unsafe('create sequence reads')
    engine = await openPostgresEngine(place.databaseUrl ?? '', { connections: 2, pooled: false })
  })
  afterAll(async () => {
    await engine.close()
    await superuser.close()
    await place.remove()
  })

  test('most of what it can answer is answered, the rest is refused before it is late, and the feed is read', async () => {
    const speed = await measureSpeed(engine)
    const [{ last_value: before }] = await superuser.unsafe('select last_value from reads')
    const end = performance.now() + SECONDS * 1000
    const counts = { answered: 0, refused: 0, slowest: 0, feed: 0 }
    const askAgainAndAgain = async () => {
      while (performance.now() < end) {
        const began = performance.now()
        try {
          // Two reads: of a request that has got the first, the second is not refused.
          await asRequest(async () => {
            await engine.db.get(SLOW_READ)
            await engine.db.get(SLOW_READ)
          })
          counts.answered += 1
        } catch (error) {
          expect(error).toBeInstanceOf(Unavailable)
          counts.refused += 1
        }
        counts.slowest = Math.max(counts.slowest, performance.now() - began)
      }
    }
    const followFeed = async () => {
      const { feed } = createStore(engine)
      while (performance.now() < end) {
        await feed.head()
        counts.feed += 1
        await Bun.sleep(50)
      }
    }
    await Promise.all([followFeed(), ...Array.from({ length: 600 }, askAgainAndAgain)])
    const [{ last_value: sent }] = await superuser.unsafe('select last_value from reads')
    const peak = (READS_PER_SECOND / 2) * SECONDS * speed
    expect(counts.answered).toBeGreaterThan(peak * 0.5)
    expect(counts.refused).toBeGreaterThan(0)
    // Nothing was read for those who were refused.
    expect(Number(sent) - Number(before)).toBeLessThan(counts.answered * 2 + 50)
    expect(counts.slowest).toBeLessThan(6000 / speed)
    expect(counts.feed).toBeGreaterThan(SECONDS * 4 * speed)
  })

  test('the node stays ready and its directory fresh while reads wait in vain', async () => {
    const { databaseUrl = '', remove } = await createStorePlace('postgres')
    const server = await startTestServer('postgres', { config: { databaseUrl, databaseConnections: 4 } })
    const elsewhere = createStore(await openPostgresEngine(databaseUrl, { connections: 2, pooled: false }))
    const holder = await new SQL(databaseUrl, { max: 1 }).reserve()
    try {
      const { broadcaster, offline } = server.world
      const isLive = async () =>
        (await server.call({ path: '/helix/streams', query: { user_id: offline.id } })).body.data.length === 1
      expect(await isLive()).toBe(false)

      await holder.unsafe('begin')
      await holder.unsafe('lock table video_markers in access exclusive mode')
      const stuck = Array.from({ length: 100 }, () =>
        server.call({
          path: '/helix/streams/markers',
          query: { user_id: broadcaster.id },
          token: broadcaster.token,
        }),
      )
      // One is on its way by now, so all that came before it are.
      await Bun.sleep(200)
      await elsewhere.commands.startStream({
        user_id: offline.id,
        stream_id: '1',
        video_id: '2',
        started_at: '2026-03-01T12:00:00Z',
      })
      const end = performance.now() + 2000
      const seen = { ready: new Set<number>(), live: false }
      let areAnswered = false
      void Promise.all(stuck).then(() => {
        areAnswered = true
      })
      while (performance.now() < end || !(seen.live || areAnswered)) {
        seen.ready.add((await fetch(`${server.url}/readyz`)).status)
        seen.live ||= await isLive()
        await Bun.sleep(20)
      }
      expect(seen).toEqual({ ready: new Set([200]), live: true })

      const answers = await Promise.all(stuck)
      expect(new Set(answers.map(({ status, problem }) => `${status} ${problem}`))).toEqual(
        new Set(['503 unavailable']),
      )
      expect(answers.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true)
    } finally {
      await holder.unsafe('rollback')
      await holder.close()
      await elsewhere.close()
      await server.stop()
      await remove()
    }
  })
})
