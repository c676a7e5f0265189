/** Through PgBouncer in transaction mode, as its setting states: every transaction may meet another connection. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isRefusal } from '../../src/contract/problem.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { migrations } from '../../src/store/schema/index.ts'
import { createStore, type Store } from '../../src/store/store.ts'
import { StrandProcess } from '../support/cli/strand-process.ts'
import { startPgBouncer } from '../support/proxies/pgbouncer.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'
import { freePort } from '../support/store/postgres.ts'
import { ANY_MASTER_KEYS, anyStreamKey } from '../support/store/stores.ts'

const program = process.env.TEST_PGBOUNCER || undefined
const OPERATOR = 'an-operator-token-for-these-tests'

describe.skipIf(program === undefined || !engines.includes('postgres'))('through PgBouncer', () => {
  let place: StorePlace
  let bouncer: Awaited<ReturnType<typeof startPgBouncer>>
  let store: Store
  beforeAll(async () => {
    place = await createStorePlace('postgres')
    bouncer = await startPgBouncer(program ?? '', place.databaseUrl ?? '')
    store = createStore(await openPostgresEngine(bouncer.url, { connections: 20, pooled: true }))
  })
  afterAll(async () => {
    await store.close()
    await bouncer.stop()
    await place.remove()
  })

  test('many writes and reads at once, more than it has connections', async () => {
    const put = (n: number) =>
      store.commands.putUser({
        id: String(1000 + n),
        login: `user_${n}`,
        stream_key: anyStreamKey(`user ${n}`),
        now: Date.now(),
      })
    for (let first = 0; first < 100; first += 10) {
      const made = await Promise.all(Array.from({ length: 10 }, (_, n) => put(first + n)))
      expect(made.filter(isRefusal)).toEqual([])
    }
    const found = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => store.users.withLogin(`user_${n % 100}`)),
    )
    expect(found.map(user => user?.id)).toEqual(found.map((_, n) => String(1000 + (n % 100))))
  })

  test('a migration of a store in use', async () => {
    const connect = () => new SQL(bouncer.url, { max: 1, prepare: false })
    const migrated = await migratePostgres(connect, { migrations: [...migrations, nextMigration] })
    expect(migrated).toEqual({ version: migrations.length + 1, applied: 1 })
  })

  test('a server behind it serves, and its writes are there', async () => {
    const listen = `127.0.0.1:${await freePort()}`
    const strand = new StrandProcess(['serve', '--listen', listen, '--data', place.folder], {
      environment: {
        DATABASE_URL: bouncer.url,
        STRAND_DATABASE_POOLER: 'transaction',
        STRAND_OPERATOR_TOKEN: OPERATOR,
        STRAND_MASTER_KEYS: ANY_MASTER_KEYS,
      },
    })
    await strand.serving()
    const headers = { Authorization: `Bearer ${OPERATOR}`, 'Content-Type': 'application/json' }
    const live = await fetch(`http://${listen}/control/channels/1000/stream`, {
      method: 'PUT',
      headers,
      body: '{"viewer_count": 7}',
    })
    expect(live.status).toBe(200)
    const { data } = (await (await fetch(`http://${listen}/helix/streams?user_id=1000`)).json()) as {
      data: { viewer_count: number }[]
    }
    expect(data.map(each => each.viewer_count)).toEqual([7])
    expect(await strand.end('SIGTERM')).toBe(0)
  })
})
