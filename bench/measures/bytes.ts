/**
 * What an entitlement that was granted and fulfilled takes in the store, with its rows in the audit log: grants and updates
 * are calls of 100. On PostgreSQL after `vacuum full`, and after plain `vacuum`, which leaves the space of earlier versions
 * of rows for later ones.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { SQL } from 'bun'
import type { Engine } from '../../src/store/engine.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import type { Measure } from '../bench.ts'
import { walBytesOf } from '../load/usage.ts'
import { whole } from '../report.ts'
import { fulfilAll, grantAll, inventEntitlements } from '../world/history.ts'
import { type BenchWorld, SMALLEST } from '../world/world.ts'

const COUNT = 20_000

export const bytes: Measure = {
  name: 'bytes',
  seconds: () => 40,
  run: async bench => {
    const world = await bench.makeWorld('bytes', SMALLEST)
    const databaseUrl = await bench.processes.startDatabase(world)
    const client = new SQL(databaseUrl, { max: 1 })
    const sizeAfter = async (vacuum: string) => {
      await client.unsafe(vacuum)
      return inTables(await client.unsafe(POSTGRES_SIZES))
    }
    const before = [await sizeAfter('vacuum full'), embeddedSize(world)] as const
    const walBefore = await walBytesOf(databaseUrl)
    await fill(world, await openPostgresEngine(databaseUrl, { connections: 40, pooled: false }))
    const wal = (await walBytesOf(databaseUrl)) - walBefore
    const plain = (await sizeAfter('vacuum')) - before[0]
    const full = (await sizeAfter('vacuum full')) - before[0]
    await client.close()
    await fill(world, await openSqliteEngine(world.storeFile))
    const embedded = embeddedSize(world) - before[1]
    const [work, unit] = ['Bytes of a granted and fulfilled entitlement', 'bytes']
    const details = `after \`vacuum full\`; ${whole(plain / COUNT)} after \`vacuum\`; ${whole(wal / COUNT)} bytes of WAL`
    return [
      { work: `${work}, SQLite`, value: embedded / COUNT, unit, atMost: 700 },
      { work: `${work}, PostgreSQL`, value: full / COUNT, unit, details, atMost: 900 },
    ]
  },
}

async function fill(world: BenchWorld, engine: Engine): Promise<void> {
  const store = createStore(engine)
  const held = [...inventEntitlements(world, COUNT)].map((each, n) => ({
    ...each,
    user_id: world.liveIds[n % world.liveIds.length] ?? '',
  }))
  await grantAll(store, held)
  await fulfilAll(store, world, held)
  await store.close()
}

type Table = Readonly<{ name: string; bytes: number | string }>

const POSTGRES_SIZES = `select relname as name,
    case when relkind = 'r' then pg_table_size(oid) else pg_relation_size(oid) end as bytes
  from pg_class where relkind in ('r', 'i') and relnamespace = current_schema()::regnamespace`

function embeddedSize({ storeFile }: BenchWorld): number {
  using db = new Sqlite(storeFile)
  return inTables(db.query('select name, sum(pgsize) as bytes from dbstat group by name').all() as Table[])
}

function inTables(tables: readonly Table[]): number {
  return tables
    .filter(({ name }) => /entitlement|audit/.test(name))
    .reduce((sum, { bytes: size }) => sum + Number(size), 0)
}
