import type { Transaction } from '../database.ts'
import type { SigningKeyRow } from '../queries/signing-keys.ts'
import { sql } from '../sql/tag.ts'

/** The current signing key, the previous one, and the next, which is published before it signs. */
const KEPT = 3

/** Adds the next key. Returns false if another node has already added one, which is then the next key. */
export async function addSigningKey(tx: Transaction, args: { key: SigningKeyRow }): Promise<boolean> {
  const { key } = args
  const added = await tx.run(
    sql`insert into signing_keys (number, kid, public_jwk, key_id, sealed, created_at)
        values (${key.number}, ${key.kid}, ${key.public_jwk}, ${key.key_id}, ${key.sealed}, ${key.created_at})
        on conflict (number) do nothing`,
  )
  if (added > 0) await tx.run(sql`delete from signing_keys where number <= ${key.number - KEPT}`)
  return added > 0
}

/** Deletes all keys; a new first key is created on demand. Returns how many there were. */
export async function removeSigningKeys(tx: Transaction, _args: Record<never, never>): Promise<number> {
  return tx.run(sql`delete from signing_keys`)
}
