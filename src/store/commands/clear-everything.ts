import { randomAlphanumerics } from '../../kit/id.ts'
import type { Transaction } from '../database.ts'
import { sql, verbatim } from '../sql/tag.ts'
import { WORLD_TABLES } from '../tables.ts'

/**
 * Empties the store, to restart a demo. The new nonce forks the history of the feed, as a failover that lost its last
 * entries does: every follower reloads everything at the next change.
 */
export async function clearEverything(tx: Transaction, _args: Record<never, never>): Promise<void> {
  for (const table of WORLD_TABLES) await tx.run(sql`delete from ${verbatim(table)}`)
  await tx.run(sql`delete from feed`)
  await tx.run(sql`update feed_head set nonce = ${randomAlphanumerics(10)} where id = 1`)
}
