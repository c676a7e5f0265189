import type { Database } from '../database.ts'
import { sql } from '../sql/tag.ts'

/** A stored key that signs ID tokens. */
export interface SigningKeyRow {
  readonly number: number
  readonly kid: string
  /** The public half, as JSON. */
  readonly public_jwk: string
  /** The master key that seals the private half. */
  readonly key_id: string
  readonly sealed: string
  readonly created_at: string
}

export const signingKeyQueries = (db: Database) => ({
  /** Newest first; there are never more than a few. */
  all: async (): Promise<SigningKeyRow[]> => {
    const rows = await db.all<Omit<SigningKeyRow, 'number'> & { number: number | string }>(
      sql`select number, kid, public_jwk, key_id, sealed, created_at from signing_keys order by number desc`,
    )
    return rows.map(row => ({ ...row, number: Number(row.number) }))
  },
})
