import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { computeChecksums, type SchemaOptions } from '../../src/store/engine/migrate.ts'
import { SchemaRefused } from '../../src/store/engine/schema-state.ts'
import { openPostgresEngine } from '../../src/store/postgres/postgres.ts'
import { migratePostgres } from '../../src/store/postgres/postgres-migrate.ts'
import { type Migration, migrations } from '../../src/store/schema/index.ts'
import { postgresDialect, sqliteDialect } from '../../src/store/sql/dialects.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite.ts'
import { migrateSqlite } from '../../src/store/sqlite/sqlite-migrate.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'

interface Version {
  readonly version: number
  readonly checksum: string | null
  readonly additive: number | null
}

/** The little that these tests do to a database directly. */
async function workbench(place: StorePlace) {
  if (place.databaseUrl !== undefined) {
    const pool = new SQL(place.databaseUrl, { max: 4 })
    const connect = () => new SQL(place.databaseUrl ?? '', { max: 1 })
    const migrate = async (list = migrations) =>
      (await migratePostgres(connect, { migrations: list })).applied
    return {
      migrate,
      migrateTogether: () => Promise.all([1, 2, 3].map(() => migrate())),
      open: (options: SchemaOptions = {}) =>
        openPostgresEngine(place.databaseUrl ?? '', { connections: 2, pooled: false, ...options }),
      execute: async (statement: string) => {
        await pool.unsafe(statement)
      },
      versions: async (): Promise<Version[]> => [
        ...(await pool.unsafe('select version, checksum, additive from schema_versions order by version')),
      ],
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
    migrate: async (list?: readonly Migration[]) => (await migrateSqlite(file, list)).applied,
    migrateTogether: () => Promise.all([1, 2, 3].map(() => migrateInAnotherProcess(file))),
    open: (options: SchemaOptions = {}) => openSqliteEngine(file, options),
    execute: async (statement: string) => {
      const connection = new Database(file)
      connection.run(statement)
      connection.close()
    },
    versions: async (): Promise<Version[]> => {
      const connection = new Database(file)
      const rows = connection.query('select version, checksum, additive from schema_versions').all()
      connection.close()
      return rows as Version[]
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
    import { migrateSqlite } from './src/store/sqlite/sqlite-migrate.ts'
    process.stdout.write(String((await migrateSqlite(process.argv[1])).applied))`
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
          `insert into schema_versions (version, applied_at, checksum, additive)
           values (${migrations.length + 1}, 'later', 'of another text', 0)`,
        )
        await expect(bench.open()).rejects.toThrow(SchemaRefused)
      }))

    test('a schema that is newer by additive migrations is served, and left as it is', () =>
      onBench(async bench => {
        const next: Migration = { ...nextMigration, additive: true }
        await bench.migrate([...migrations, next, next])
        for (const options of [{}, { migrate: false }]) {
          const engine = await bench.open(options)
          expect(engine.schema).toEqual({ version: migrations.length + 2, applied: 0 })
          await engine.close()
        }
        expect(await bench.migrate()).toBe(0)
      }))

    test('one migration that is not additive, and an older program does not start', () =>
      onBench(async bench => {
        await bench.migrate([...migrations, nextMigration, { ...nextMigration, additive: false }])
        await expect(bench.open()).rejects.toThrow('use a newer version of Strand')
        await expect(bench.open({ migrate: false })).rejects.toThrow(SchemaRefused)
      }))

    test('where it is switched off, an older store is refused with what to run, and left as it is', () =>
      onBench(async bench => {
        await expect(bench.open({ migrate: false })).rejects.toThrow('run strand migrate')
        expect(await bench.names()).toEqual([])
        await bench.migrate()
        const engine = await bench.open({ migrate: false })
        expect(engine.schema).toEqual({ version: migrations.length, applied: 0 })
        await engine.close()
      }))

    test('note the checksum of each', () =>
      onBench(async bench => {
        await bench.migrate()
        const noted = await bench.versions()
        const dialect = engine === 'sqlite' ? sqliteDialect : postgresDialect
        expect(noted.map(row => row.checksum)).toEqual([...computeChecksums(migrations, dialect)])
      }))

    test('one that was edited after use is refused, by its number, and nothing is changed', () =>
      onBench(async bench => {
        const number = migrations.length + 1
        const edited: Migration = { ...nextMigration, text: dialect => `${nextMigration.text(dialect)}\n` }
        expect(await bench.migrate([...migrations, edited])).toBe(number)
        const before = (await bench.names()).sort()
        const released = [...migrations, nextMigration]
        await expect(bench.migrate(released)).rejects.toThrow(
          `migration ${number} was applied to the store with another text`,
        )
        expect((await bench.names()).sort()).toEqual(before)
        const further = { additive: true, text: () => 'create table if not exists further (id integer);' }
        expect(await bench.migrate([...migrations, edited, further])).toBe(1)
      }))

    test('the first one that was edited after use is refused when the store is opened', () =>
      onBench(async bench => {
        const [first, ...more] = migrations
        if (first === undefined) throw new Error('there are migrations')
        await bench.migrate([{ ...first, text: dialect => `${first.text(dialect)}\n` }, ...more])
        await expect(bench.open()).rejects.toThrow(SchemaRefused)
      }))
  })
}
