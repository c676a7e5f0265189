/** Compares the migrations applied to a store with those of this program. */

/** A migration that was applied to a store. */
export interface AppliedMigration {
  readonly version: number
  readonly checksum: string
  readonly additive: boolean
}

export interface SchemaState {
  /** The schema version of the store; 0 if it is empty. */
  readonly version: number
  /** The schema version of this program. */
  readonly known: number
  /**
   * `compatible`: newer than this program, by additive migrations only. `newer`: at least one of them is not additive.
   * `edited`: a migration was applied with another text than it has in this program.
   */
  readonly verdict: 'current' | 'behind' | 'compatible' | 'newer' | 'edited'
  /** The number of the edited migration. */
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
    ({ version, checksum }) => version <= known && checksum !== checksums[version - 1],
  )
  if (edited !== undefined) return { version, known, verdict: 'edited', edited: edited.version }
  if (version <= known) return { version, known, verdict: version < known ? 'behind' : 'current' }
  const additive = applied.every(row => row.version <= known || row.additive)
  return { version, known, verdict: additive ? 'compatible' : 'newer' }
}

/** This program cannot use the schema of the store. The message is one sentence for the operator. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused'
}

/** Throws unless this program can serve the store, if necessary after migrating it. */
export function requireMigratable(state: SchemaState): SchemaState {
  const { version, known, verdict, edited } = state
  if (verdict === 'edited') {
    throw new SchemaRefused(
      `migration ${edited} was applied to the store with another text than it has in this program: use the version of Strand that applied it, or restore a backup from before it`,
    )
  }
  if (verdict === 'newer') {
    throw new SchemaRefused(
      `the store has schema ${version} and this program knows ${known}: use a newer version of Strand, or restore an older backup`,
    )
  }
  return state
}

/** Throws unless this program can serve the store without migrating it. */
export function requireServable(state: SchemaState): SchemaState {
  const { version, known, verdict } = requireMigratable(state)
  if (verdict !== 'behind') return state
  throw new SchemaRefused(
    `the store has schema ${version} and this program needs ${known}: run strand migrate with this version first, or set STRAND_MIGRATE=auto`,
  )
}
