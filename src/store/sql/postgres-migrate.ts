import type { SQL } from 'bun'
import { postgresFlavor } from './flavors.ts'
import {
  checksumsOf,
  type Migrated,
  noteVersion,
  readVersion,
  type StoredVersion,
  versionTable,
  withoutChecksum,
} from './migrate.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { type AppliedMigration, refusalOf, type SchemaState, stateOfSchema } from './schema-state.ts'

/** Any number that no other program on the same database uses for its advisory locks. */
const MIGRATION_LOCK = 7_382_945

type Queryable = Pick<SQL, 'unsafe'>

/** Migrates under an advisory lock: nodes that start together do it once. */
export async function migratePostgres(pool: SQL, list: readonly Migration[] = migrations): Promise<Migrated> {
  return pool.begin(async tx => {
    // Another node may be at it for a long time.
    await tx.unsafe('set local lock_timeout = 0')
    await tx.unsafe(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    const applied = await appliedIn(tx)
    const state = stateOfSchema(applied, checksumsOf(list, postgresFlavor))
    const refusal = refusalOf(state)
    if (refusal !== undefined) throw refusal
    if (state.verdict === 'compatible') return { version: state.version, applied: 0 }
    await tx.unsafe(versionTable(postgresFlavor))
    for (const version of withoutChecksum(applied, state.known)) {
      await tx.unsafe(noteVersion(version, list, postgresFlavor))
    }
    for (let version = state.version + 1; version <= list.length; version++) {
      await tx.unsafe(list[version - 1]?.text(postgresFlavor) ?? '')
      await tx.unsafe(noteVersion(version, list, postgresFlavor))
    }
    return { version: list.length, applied: list.length - state.version }
  })
}

/** What a program makes of the schema of a database. */
export async function postgresSchema(
  client: Queryable,
  list: readonly Migration[] = migrations,
): Promise<SchemaState> {
  return stateOfSchema(await appliedIn(client), checksumsOf(list, postgresFlavor))
}

/** As JSON, because columns may come to the table while a connection remembers how the answer looked before. */
async function appliedIn(client: Queryable): Promise<AppliedMigration[]> {
  const [table] = await client.unsafe("select to_regclass('schema_versions') is not null as made")
  if (!table.made) return []
  const rows: { row: string }[] = await client.unsafe(
    'select cast(to_json(v) as text) as row from schema_versions v order by version',
  )
  return rows.map(({ row }) => readVersion(JSON.parse(row) as StoredVersion))
}
