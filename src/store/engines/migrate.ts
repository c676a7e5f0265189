import { isoMillis } from '../../kit/clock.ts'
import { sha256Hex } from '../../kit/digest.ts'
import type { Dialect } from '../sql/tag.ts'
import { type Migration, migrations } from './migrations/index.ts'
import { type AppliedMigration, type SchemaState, stateOfSchema } from './schema-state.ts'

/** The schema that this program knows. */
export const SCHEMA_VERSION = migrations.length

/** What an engine may do about the schema when it is opened. */
export interface SchemaOptions {
  /** False: a store whose schema is older is refused. */
  readonly migrate?: boolean
  /** Told in a few words how a migration goes, when it takes longer than a moment. */
  readonly report?: (line: string) => void
}

/** Where the schema of a store stands, and how many migrations it took to get there just now. */
export interface Migrated {
  readonly version: number
  readonly applied: number
}

/** Of the text as an engine gets it: a migration that was edited after it had been applied has another. */
export function checksumsOf(list: readonly Migration[], dialect: Dialect): readonly string[] {
  return list.map(migration => sha256Hex(migration.text(dialect)))
}

/** The state of a schema for a program with these migrations. */
export const schemaFor = (
  applied: readonly AppliedMigration[],
  dialect: Dialect,
  list: readonly Migration[] = migrations,
): SchemaState => stateOfSchema(applied, checksumsOf(list, dialect))

/** The columns behind the first two came later. Older programs leave them out. */
export const versionTable = ({ key }: Dialect): string => `
create table if not exists schema_versions (version integer primary key, applied_at ${key} not null);
alter table schema_versions add column if not exists checksum ${key};
alter table schema_versions add column if not exists additive integer;
`

/** A row of `schema_versions` as an engine gives it; a table of an older program lacks columns. */
export interface StoredVersion {
  readonly version: number
  readonly checksum?: string | null
  readonly additive?: number | null
}

export function readVersion({ version, checksum = null, additive }: StoredVersion): AppliedMigration {
  return { version, checksum, additive: additive === 1 }
}

/** The statement that notes a migration as applied, or what an older program did not note of it. */
export function noteVersion(version: number, list: readonly Migration[], dialect: Dialect): string {
  const migration = list[version - 1]
  if (migration === undefined) throw new Error(`there is no migration ${version}`)
  const values = [
    version,
    `'${isoMillis(Date.now())}'`,
    `'${sha256Hex(migration.text(dialect))}'`,
    Number(migration.additive),
  ]
  return `insert into schema_versions (version, applied_at, checksum, additive) values (${values.join(', ')})
    on conflict (version) do update set checksum = excluded.checksum, additive = excluded.additive`
}

/** Those that were applied by a program that did not note a checksum. Their text is taken for the one that is known. */
export function withoutChecksum(applied: readonly AppliedMigration[], known: number): number[] {
  return applied.filter(row => row.checksum === null && row.version <= known).map(row => row.version)
}
