import type { Transaction } from '../database.ts'
import { sql, tableOf } from '../sql/tag.ts'

/** Replaces webhook secrets with resealed ones. A secret that has changed since it was read is left alone. */
export async function resealEventSecrets(
  tx: Transaction,
  args: { secrets: readonly Readonly<Record<'id' | 'was' | 'key_id' | 'sealed', string>>[] },
): Promise<number> {
  if (args.secrets.length === 0) return 0
  return tx.run(
    sql`update event_subscriptions set key_id = resealed.key_id, sealed = resealed.sealed
        from ${tableOf(args.secrets, ['id', 'was', 'key_id', 'sealed'])} as resealed
        where event_subscriptions.id = resealed.id and event_subscriptions.sealed = resealed.was`,
  )
}
