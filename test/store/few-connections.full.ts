/** A role that PostgreSQL gives fewer connections than the settings ask for: reads and writes share the connections. */
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { randomAlphanumerics } from '../../src/kit/id.ts'
import { createLog } from '../../src/kit/telemetry/log.ts'
import { exposition, Metrics } from '../../src/kit/telemetry/metrics.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines } from '../support/server.ts'

/** A store as a role with so many connections, and what is left for the test to do as a superuser. */
async function openAsRole(limit: number) {
  const place = await createStorePlace('postgres')
  const superuser = new SQL(place.databaseUrl ?? '', { max: 1 })
  const role = `few_${randomAlphanumerics(12).toLowerCase()}`
  await superuser.unsafe(`create role ${role} login connection limit ${limit}`)
  await superuser.unsafe(`grant all on schema public to ${role}`)
  await superuser.unsafe(`grant all on all tables in schema public to ${role}`)
  const url = (place.databaseUrl ?? '').replace('postgres@', `${role}@`)
  const lines: string[] = []
  const store = createStore(
    await openPostgresEngine(url, {
      connections: 10,
      pooled: false,
      log: createLog({ level: 'warn', readable: false, write: line => lines.push(line) }),
    }),
  )
  return {
    store,
    superuser,
    role,
    url,
    /** Every warning about it so far. */
    fewer: () => lines.filter(line => line.includes('accepts fewer connections')),
    close: async () => {
      await store.close()
      await superuser.unsafe(`drop owned by ${role}`)
      await superuser.unsafe(`drop role ${role}`)
      await superuser.close()
      await place.remove()
    },
  }
}

type Role = Awaited<ReturnType<typeof openAsRole>>

/** Reads, writes and looks at the feed, all at once and again and again; gives what failed. */
async function useAtOnce({ store }: Role, rounds: number): Promise<unknown[]> {
  const failures: unknown[] = []
  const again = async (work: () => unknown) => {
    for (let round = 0; round < rounds; round++) {
      try {
        await work()
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(
    Array.from({ length: 4 }, (_, n) => [
      again(() => store.users.find(String(n))),
      again(() => store.commands.setFact({ name: `fact ${n}`, value: 'x' })),
      again(() => store.feed.head()),
    ]).flat(),
  )
  return failures
}

describe.skipIf(!engines.includes('postgres'))('a role with few connections', () => {
  test.each([3, 4, 6])(
    'of %i: reads, writes and the feed all continue, and it is logged once for each pool',
    async limit => {
      const role = await openAsRole(limit)
      try {
        expect(await useAtOnce(role, 20)).toEqual([])
        expect(await useAtOnce(role, 20)).toEqual([])
        const pools = role.fewer().map(line => JSON.parse(line).pool)
        expect(pools.length).toBeGreaterThan(0)
        expect(pools).toEqual([...new Set(pools)])
      } finally {
        await role.close()
      }
    },
  )

  test('connections that were lost, and are taken by others meanwhile: what is left is shared again', async () => {
    const role = await openAsRole(5)
    try {
      expect(await useAtOnce(role, 20)).toEqual([])
      // Reads lose theirs, and another client of the same role is quicker.
      await role.superuser.unsafe(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role.role}'`,
      )
      const others = [new SQL(role.url, { max: 1 }), new SQL(role.url, { max: 1 })]
      await Promise.all(others.map(other => other.unsafe('select 1')))
      const deadline = performance.now() + 40_000
      while ((await useAtOnce(role, 3)).length > 0) expect(performance.now()).toBeLessThan(deadline)
      await Promise.all(others.map(other => other.close()))
    } finally {
      await role.close()
    }
  })

  test('a server that takes none is not asked again and again', async () => {
    const role = await openAsRole(3)
    try {
      expect(await useAtOnce(role, 5)).toEqual([])
      await role.superuser.unsafe(`alter role ${role.role} connection limit 0`)
      await role.superuser.unsafe(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role.role}'`,
      )
      const before = refusedConnections(role)
      const began = performance.now()
      let failures = 0
      while (performance.now() - began < 3000) {
        failures += (await useAtOnce(role, 1)).length
        await Bun.sleep(1)
      }
      expect(failures).toBeGreaterThan(10)
      // Every pool tries twice a second at most.
      const seconds = (performance.now() - began) / 1000
      expect(refusedConnections(role) - before).toBeLessThan(13 * seconds)
      await role.superuser.unsafe(`alter role ${role.role} connection limit 3`)
      const deadline = performance.now() + 40_000
      while ((await useAtOnce(role, 1)).length > 0) expect(performance.now()).toBeLessThan(deadline)
    } finally {
      await role.close()
    }
  })
})

function refusedConnections({ store }: Role): number {
  const metrics = new Metrics()
  store.measure(metrics)
  const text = exposition(metrics.families)
  return Number(/^strand_postgres_connections_refused_total (\d+)$/m.exec(text)?.[1])
}
