import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { NewerSchema } from '../../src/store/sql/migrate.ts'
import { migrations } from '../../src/store/sql/migrations/index.ts'
import { migratePostgres, openPostgresEngine } from '../../src/store/sql/postgres.ts'
import { migrateSqlite, openSqliteEngine } from '../../src/store/sql/sqlite.ts'
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
