import type { Sealed } from '../../kit/crypto/secret-box.ts'
import type { Database } from '../database.ts'
import { joined, limitedTo, sql, verbatim } from '../sql/tag.ts'

/** Where secrets are that are sealed with a master key, whose they are, and what distinguishes several of an owner. */
export const SEALED_SECRETS = {
  stream_key: { table: 'stream_keys', owner: 'user_id', slot: 'version' },
  extra_stream_key: { table: 'extra_stream_keys', owner: 'user_id', slot: 'name' },
  signing_key: { table: 'signing_keys', owner: 'kid', slot: undefined },
  webhook_secret: { table: 'event_subscriptions', owner: 'id', slot: undefined },
} as const

export type SealedKind = keyof typeof SEALED_SECRETS

export const STREAM_KEY_KINDS = ['stream_key', 'extra_stream_key'] as const

export interface SealedRow extends Sealed {
  readonly owner: string
  readonly slot: number | string
  /** The hash by which a stream key is found. */
  readonly lookup_hash: string
}

const BATCH_SIZE = 500

function rowsAfter(
  db: Database,
  kind: SealedKind,
  last: SealedRow | undefined,
  except: string,
): Promise<SealedRow[]> {
  const { table, owner, slot } = SEALED_SECRETS[kind]
  const order = verbatim(slot === undefined ? owner : `${owner}, ${slot}`)
  const columns = slot === undefined ? `'' as slot, '' as lookup_hash` : `${slot} as slot, lookup_hash`
  const place = last && joined(slot === undefined ? [last.owner] : [last.owner, last.slot], ', ')
  return db.all<SealedRow>(
    sql`select ${verbatim(owner)} as owner, key_id, sealed, ${verbatim(columns)} from ${verbatim(table)}
        where ${place === undefined ? sql`1 = 1` : sql`(${order}) > (${place})`} and key_id <> ${except}
        order by ${order}${limitedTo(BATCH_SIZE)}`,
  )
}

export const sealedSecretQueries = (db: Database) => ({
  /** All secrets of a kind. `except` skips those sealed with that master key. */
  batches: async function* (kind: SealedKind, except = ''): AsyncGenerator<readonly SealedRow[]> {
    let rows = await rowsAfter(db, kind, undefined, except)
    for (; rows.length > 0; rows = await rowsAfter(db, kind, rows.at(-1), except)) yield rows
  },

  /** The number of secrets of these kinds sealed with each master key. */
  countByMasterKey: async (...kinds: readonly SealedKind[]): Promise<Map<string, number>> => {
    const ids = kinds.map(kind => {
      const table = verbatim(SEALED_SECRETS[kind].table)
      return sql`select key_id from ${table} where key_id is not null`
    })
    const rows = await db.all<{ key_id: string; count: number | string }>(
      sql`select key_id, count(*) as count from (${joined(ids, ' union all ')}) k group by key_id order by key_id`,
    )
    return new Map(rows.map(row => [row.key_id, Number(row.count)]))
  },
})
