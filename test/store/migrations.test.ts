import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { postgresFlavor, sqliteFlavor } from '../../src/store/sql/flavors.ts'
import { NewerSchema } from '../../src/store/sql/migrate.ts'
import { migrations } from '../../src/store/sql/migrations/index.ts'
import { migratePostgres, openPostgresEngine } from '../../src/store/sql/postgres.ts'
import { migrateSqlite, openSqliteEngine } from '../../src/store/sql/sqlite.ts'
import { createStore } from '../../src/store/store.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'

/** The little that these tests do to a database directly. */
async function workbench(place: StorePlace) {
  if (place.databaseUrl !== undefined) {
    const pool = new SQL(place.databaseUrl, { max: 4 })
    return {
      migrate: () => migratePostgres(pool),
      migrateTogether: () => Promise.all([1, 2, 3].map(() => migratePostgres(pool))),
      open: () => openPostgresEngine(place.databaseUrl ?? '', { connections: 2, pooled: false }),
      execute: async (statement: string) => {
        await pool.unsafe(statement)
      },
      names: async (): Promise<string[]> => {
        const rows = await pool.unsafe(
          "select indexname as name from pg_indexes where schemaname = 'public' union select tablename from pg_tables where schemaname = 'public'",
        )
        return rows.map((row: { name: string }) => row.name)
      },
      close: () => pool.close(),
    }
  }
  const file = `${place.folder}/strand.db`
  return {
    migrate: () => migrateSqlite(file),
    migrateTogether: () => Promise.all([1, 2, 3].map(() => migrateInAnotherProcess(file))),
    open: () => openSqliteEngine(file),
    execute: async (statement: string) => {
      const connection = new Database(file)
      connection.run(statement)
      connection.close()
    },
    names: async (): Promise<string[]> => {
      const connection = new Database(file)
      const rows = connection.query('select name from sqlite_master').all() as { name: string }[]
      connection.close()
      return rows.map(row => row.name)
    },
    close: async () => undefined,
  }
}

/** SQLite's lock makes a whole thread wait, so those who meet must be processes. */
async function migrateInAnotherProcess(file: string): Promise<number> {
  const script = `
    import { migrateSqlite } from './src/store/sql/sqlite.ts'
    process.stdout.write(String(await migrateSqlite(process.argv[1])))`
  const child = Bun.spawn([process.execPath, '-e', script, file], { stdout: 'pipe', stderr: 'inherit' })
  return Number(await new Response(child.stdout).text())
}

for (const engine of engines) {
  describe(`migrations on ${engine}`, () => {
    const onBench = async (work: (bench: Awaited<ReturnType<typeof workbench>>) => Promise<void>) => {
      const place = await createStorePlace(engine, { empty: true })
      const bench = await workbench(place)
      try {
        await work(bench)
      } finally {
        await bench.close()
        await place.remove()
      }
    }

    test('bring an empty store to the newest schema, and do nothing a second time', () =>
      onBench(async bench => {
        expect(await bench.migrate()).toBe(migrations.length)
        expect(await bench.migrate()).toBe(0)
      }))

    test('replayed over a finished schema, they leave it as it is', () =>
      onBench(async bench => {
        await bench.migrate()
        const before = (await bench.names()).sort()
        await bench.execute('delete from schema_versions')
        expect(await bench.migrate()).toBe(migrations.length)
        expect((await bench.names()).sort()).toEqual(before)
      }))

    test('started together, they run once', () =>
      onBench(async bench => {
        const applied = await bench.migrateTogether()
        expect(applied.toSorted()).toEqual([0, 0, migrations.length])
      }))

    test('clients from before the device flow had a switch have the default of their kind', () =>
      onBench(async bench => {
        const flavor = engine === 'sqlite' ? sqliteFlavor : postgresFlavor
        const before = migrations.slice(0, 6).map(migration => migration(flavor))
        await bench.execute(before.join('\n'))
        await bench.execute(
          'create table schema_versions (version integer primary key, applied_at text not null)',
        )
        for (const version of before.keys())
          await bench.execute(
            `insert into schema_versions (version, applied_at) values (${version + 1}, 'then')`,
          )
        for (const kind of ['public', 'confidential'])
          await bench.execute(
            `insert into clients (id, name, kind, redirect_uris) values ('${kind}', 'Old', '${kind}', '[]')`,
          )
        await bench.execute(
          `insert into device_codes (hash, user_code, client_id, scopes, decision, expires_at)
           values ('waiting', 'BCDFGHJK', 'public', '[]', 'pending', '2999-01-01T00:00:00.000Z')`,
        )
        expect(await bench.migrate()).toBe(migrations.length - 6)
        const store = createStore(await bench.open())
        try {
          expect((await store.clients.find('public'))?.device_flow).toBe(true)
          expect((await store.clients.find('confidential'))?.device_flow).toBe(false)
          const now = '2026-01-01T00:00:00.000Z'
          expect((await store.accounts.waitingDevice('BCDFGHJK', now))?.hash).toBe('waiting')
        } finally {
          await store.close()
        }
      }))

    test('a schema from the future is refused', () =>
      onBench(async bench => {
        await bench.migrate()
        await bench.execute(
          `insert into schema_versions (version, applied_at) values (${migrations.length + 1}, 'later')`,
        )
        expect(bench.open()).rejects.toThrow(NewerSchema)
      }))
  })
}
