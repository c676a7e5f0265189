/** What a program makes of the migrations that a store has had. */

/** A row of `schema_versions`. Rows of programs that did not note a checksum have none. */
export interface AppliedMigration {
  readonly version: number
  readonly checksum: string | null
  readonly additive: boolean
}

export interface SchemaState {
  /** The schema of the store; 0 if there is none. */
  readonly version: number
  /** The schema of this program. */
  readonly known: number
  /**
   * `compatible`: newer than this program, by migrations that are all declared additive. `newer`: by one that is not.
   * `edited`: a migration was applied with another text than it has in this program.
   */
  readonly verdict: 'current' | 'behind' | 'compatible' | 'newer' | 'edited'
  /** Which migration was edited. */
  readonly edited?: number
}

/** `checksums` are those of this program's migrations, in order. */
export function stateOfSchema(
  applied: readonly AppliedMigration[],
  checksums: readonly string[],
): SchemaState {
  const known = checksums.length
  const version = Math.max(0, ...applied.map(row => row.version))
  const edited = applied.find(
    ({ version, checksum }) => version <= known && checksum !== null && checksum !== checksums[version - 1],
  )
  if (edited !== undefined) return { version, known, verdict: 'edited', edited: edited.version }
  if (version <= known) return { version, known, verdict: version < known ? 'behind' : 'current' }
  const additive = applied.every(row => row.version <= known || row.additive)
  return { version, known, verdict: additive ? 'compatible' : 'newer' }
}

/** The program does not work with the schema of the store. Reported to the operator in one sentence. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused'
}

/** The state, if this program can serve the store, perhaps after migrating it; throws otherwise. */
export function requireMigratable(state: SchemaState): SchemaState {
  const { version, known, verdict, edited } = state
  if (verdict === 'edited') {
    throw new SchemaRefused(
      `migration ${edited} was applied to the store with another text than it has in this program: use the version of Strand that applied it, or restore a backup from before it`,
    )
  }
  if (verdict === 'newer') {
    throw new SchemaRefused(
      `the store has schema ${version} and this program knows ${known}: start a newer version of Strand, or restore an older store`,
    )
  }
  return state
}

/** The same for a program that may not migrate. */
export function requireServable(state: SchemaState): SchemaState {
  const { version, known, verdict } = requireMigratable(state)
  if (verdict !== 'behind') return state
  throw new SchemaRefused(
    `the store has schema ${version} and this program needs ${known}: run strand migrate with this version first, or set STRAND_MIGRATE=auto`,
  )
}
