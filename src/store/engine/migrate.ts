import { sha256Hex } from '../../kit/crypto/digest.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import { type Migration, migrations } from '../schema/index.ts'
import type { Dialect } from '../sql/tag.ts'
import { type AppliedMigration, type SchemaState, stateOfSchema } from './schema-state.ts'

/** The schema version of this program. */
export const SCHEMA_VERSION = migrations.length

export interface SchemaOptions {
  /** False: a store with an older schema is rejected. */
  readonly migrate?: boolean
  /** Called with progress lines of a long migration. */
  readonly report?: (line: string) => void
}

/** The schema version of a store, and how many migrations were just applied. */
export interface Migrated {
  readonly version: number
  readonly applied: number
}

/** Checksums of the texts in a dialect, to detect migrations that were edited after they had been applied. */
export function computeChecksums(list: readonly Migration[], dialect: Dialect): readonly string[] {
  return list.map(migration => sha256Hex(migration.text(dialect)))
}

/** The state of a schema for a program with these migrations. */
export const schemaFor = (
  applied: readonly AppliedMigration[],
  dialect: Dialect,
  list: readonly Migration[] = migrations,
): SchemaState => stateOfSchema(applied, computeChecksums(list, dialect))

export const versionTable = ({ key }: Dialect): string => `create table if not exists schema_versions (
  version integer primary key,
  applied_at ${key} not null,
  checksum ${key} not null,
  additive integer not null
)`

/** A row of `schema_versions`. */
export interface StoredVersion {
  readonly version: number
  readonly checksum: string
  readonly additive: number
}

export function readVersion({ version, checksum, additive }: StoredVersion): AppliedMigration {
  return { version, checksum, additive: additive === 1 }
}

/** The statement that records a migration as applied. */
export function recordVersion(version: number, list: readonly Migration[], dialect: Dialect): string {
  const migration = list[version - 1]
  if (migration === undefined) throw new Error(`there is no migration ${version}`)
  const values = [
    version,
    `'${isoMillis(Date.now())}'`,
    `'${sha256Hex(migration.text(dialect))}'`,
    Number(migration.additive),
  ]
  return `insert into schema_versions (version, applied_at, checksum, additive) values (${values.join(', ')})`
}
