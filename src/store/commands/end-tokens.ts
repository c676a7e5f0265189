import type { Transaction } from '../database.ts'
import { type Sql, sql } from '../sql/tag.ts'
import { endUnauthorizedSubscriptions } from './end-subscriptions.ts'

/**
 * Deletes tokens, and publishes that so every process drops them from its cache. Event subscriptions that nothing else
 * authorizes end with them (D-133).
 */
export async function endTokens(tx: Transaction, where: Sql): Promise<void> {
  const ended = await tx.all<{ hash: string; client_id: string; user_id: string | null }>(
    sql`delete from tokens where ${where} returning hash, client_id, user_id`,
  )
  if (ended.length === 0) return
  tx.publish({ kind: 'access', access: { tokens: ended.map(row => row.hash) } })
  const grants = new Map(ended.map(row => [`${row.client_id}/${row.user_id}`, row]))
  for (const { client_id, user_id } of grants.values())
    if (user_id !== null) await endUnauthorizedSubscriptions(tx, { client_id, user_id, now: Date.now() })
}
