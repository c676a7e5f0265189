import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { checksumsOf, type SchemaOptions } from '../../src/store/engines/migrate.ts'
import { type Migration, migrations } from '../../src/store/engines/migrations/index.ts'
import { openPostgresEngine } from '../../src/store/engines/postgres.ts'
import { migratePostgres } from '../../src/store/engines/postgres-migrate.ts'
import { SchemaRefused } from '../../src/store/engines/schema-state.ts'
import { openSqliteEngine } from '../../src/store/engines/sqlite.ts'
import { migrateSqlite } from '../../src/store/engines/sqlite-migrate.ts'
import { postgresDialect, sqliteDialect } from '../../src/store/sql/dialects.ts'
import { createStore } from '../../src/store/store.ts'
import { nextMigration } from '../support/next-migration.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'

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
    import { migrateSqlite } from './src/store/engines/sqlite-migrate.ts'
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

    test('clients from before the device flow had a switch have the default of their kind', () =>
      onBench(async bench => {
        const dialect = engine === 'sqlite' ? sqliteDialect : postgresDialect
        const before = migrations.slice(0, 6).map(migration => migration.text(dialect))
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
        await bench.migrate(migrations.slice(0, 5))
        const before = await bench.names()
        await expect(bench.open({ migrate: false })).rejects.toThrow('the store has schema 5')
        expect(await bench.names()).toEqual(before)
        await bench.migrate()
        const engine = await bench.open({ migrate: false })
        expect(engine.schema).toEqual({ version: migrations.length, applied: 0 })
        await engine.close()
      }))

    test('note the checksum of each, also of those that an older program has applied', () =>
      onBench(async bench => {
        await bench.migrate()
        const noted = await bench.versions()
        const dialect = engine === 'sqlite' ? sqliteDialect : postgresDialect
        expect(noted.map(row => row.checksum)).toEqual([...checksumsOf(migrations, dialect)])

        await bench.execute('alter table schema_versions drop column checksum')
        await bench.execute('alter table schema_versions drop column additive')
        expect(await bench.migrate()).toBe(0)
        expect(await bench.versions()).toEqual(noted)
      }))

    test('one that was edited after use is refused, by its number, and nothing is changed', () =>
      onBench(async bench => {
        const [first, second, ...more] = migrations
        if (first === undefined || second === undefined) throw new Error('there are migrations')
        const edited: Migration = { ...second, text: dialect => `${second.text(dialect)}\n` }
        expect(await bench.migrate([first, edited])).toBe(2)
        const before = (await bench.names()).sort()
        await expect(bench.migrate()).rejects.toThrow(
          'migration 2 was applied to the store with another text',
        )
        await expect(bench.open()).rejects.toThrow(SchemaRefused)
        expect((await bench.names()).sort()).toEqual(before)
        expect(await bench.migrate([first, edited, ...more])).toBe(migrations.length - 2)
      }))
  })
}

/** The SHA-256 of what each engine was given. A migration that has been released is never edited: these lines never change. */
const RELEASED = {
  sqlite: [
    'bd15fff696bc95051fa54761b2dcf394f220c18df82c22a3ee3314c7378d302f',
    '92b6cc8f5e9bda09095bf6abd557334a53c4102bdb7eab8c7f430d3d25a10de5',
    '012daadb38c642d5765aaca0c1d731463e41fdb2852a2d2e4a82201e67f15fdd',
    'efb6c704ba33980af4e0ef292e1a92892289614486fea426c44025337299c6b4',
    'a5403db6a071f1db9796dfd263ef8096e4c3a025070babde653941bb429ffc63',
    '28087c0c8e4223bcff18fea4e3e36119d449987d9d859a648dbdbc53addc4cf6',
  ],
  postgres: [
    'e0f57ed51ed97a617043069d66ec6e5aad9f41751cdbfbf9284d07a54a124c40',
    '04a0d980e82e27021bc7676f2d141e8d0d8b68a6262c9ed98bc29a3f20f46007',
    '012daadb38c642d5765aaca0c1d731463e41fdb2852a2d2e4a82201e67f15fdd',
    'c9ab60bd3e92bfa3f534713ad98e8362e7a308bfbcfe546dfa221b5078341012',
    'f41ee17f576401361328a7b3d30c21c951bd405c2f764f7385f2e752c893f970',
    '0e74031bc8af937208b2ace6a68643ca42398672555f446e2df048fae65c6ff3',
  ],
}

test('no released migration was edited', () => {
  for (const [name, dialect] of [
    ['sqlite', sqliteDialect],
    ['postgres', postgresDialect],
  ] as const) {
    expect(checksumsOf(migrations, dialect).slice(0, RELEASED[name].length)).toEqual(RELEASED[name])
  }
})
