import { randomAlphanumerics } from '../../kit/id.ts'
import type { Transaction } from '../database.ts'
import { sql, verbatim } from '../sql/tag.ts'

/** Every table with user data, referencing tables before referenced ones. A test compares the list with the schema. */
export const WORLD_TABLES = [
  'markers',
  'streams',
  'videos',
  'entitlements',
  'follows',
  'editors',
  'stream_keys',
  'channels',
  'idempotency_keys',
  'sessions',
  'connections',
  'openid_requests',
  'authorization_codes',
  'device_code_networks',
  'device_codes',
  'tokens',
  'device_flow_clients',
  'implicit_clients',
  'clients',
  'benefits',
  'games',
  'members',
  'organizations',
  'users',
  'audit',
  'audit_heads',
  'operator_tokens',
  'rate_buckets',
  'turns',
  'facts',
] as const

/**
 * Empties the store, to restart a demo. The new nonce forks the history of the feed, as a failover that lost its last
 * entries does: every follower reloads everything at the next change.
 */
export async function clearEverything(tx: Transaction, _args: Record<never, never>): Promise<void> {
  for (const table of WORLD_TABLES) await tx.run(sql`delete from ${verbatim(table)}`)
  await tx.run(sql`delete from feed`)
  await tx.run(sql`update feed_head set nonce = ${randomAlphanumerics(10)} where id = 1`)
}
