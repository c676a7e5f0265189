import type { Transaction } from '../database.ts'
import { SEALED_SECRETS, type SealedKind } from '../queries/sealed-secrets.ts'
import { sql, valuesTable, verbatim } from '../sql/tag.ts'

/** A secret as it is sealed now, and as it was. */
type ResealedSecret = Readonly<Record<'owner' | 'was' | 'key_id' | 'sealed' | 'lookup_hash', string>>

/** Replaces secrets with resealed ones. One that has changed since it was read is left alone: each sealed text is unique. */
export async function resealSecrets(
  tx: Transaction,
  args: { kind: SealedKind; secrets: readonly ResealedSecret[] },
): Promise<number> {
  if (args.secrets.length === 0) return 0
  const { owner, slot, table: name } = SEALED_SECRETS[args.kind]
  const table = verbatim(name)
  const hash = slot === undefined ? sql`` : sql`, lookup_hash = resealed.lookup_hash`
  return tx.run(
    sql`update ${table} set key_id = resealed.key_id, sealed = resealed.sealed${hash}
        from ${valuesTable(args.secrets, ['owner', 'was', 'key_id', 'sealed', 'lookup_hash'])} as resealed
        where ${table}.${verbatim(owner)} = resealed.owner and ${table}.sealed = resealed.was`,
  )
}
