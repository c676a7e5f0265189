/** Deletes event subscriptions without holding up others for the deliveries that they have, which may be a million. */
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isOneOf, limitedTo, sql } from '../sql/tag.ts'

/** Deliveries that are deleted at once. */
const BATCH_SIZE = 500

/** Deletes subscriptions. Those with many deliveries disappear from lists, and `purgeSubscriptions` deletes them. */
export async function removeSubscriptions(tx: Transaction, ids: readonly string[]): Promise<void> {
  let left = BATCH_SIZE
  for (const id of ids) {
    const deliveries = await tx.all(
      sql`select 1 as found from event_deliveries where subscription_id = ${id}${limitedTo(left + 1)}`,
    )
    left -= deliveries.length
    if (left >= 0) await tx.run(sql`delete from event_subscriptions where id = ${id}`)
    else {
      const now = isoMillis(Date.now())
      await tx.run(
        sql`update event_subscriptions set deleted_at = ${now}, ended_at = coalesce(ended_at, ${now}) where id = ${id}`,
      )
      left = 0
    }
  }
}

/** Deletes what is left of deleted subscriptions, or of all of a client: some rows. Returns how many; 0 at the end. */
export async function purgeSubscriptions(tx: Transaction, args: { client_id?: string }): Promise<number> {
  const of = args.client_id === undefined ? sql`deleted_at is not null` : sql`client_id = ${args.client_id}`
  const found = await tx.all<{ id: string }>(
    sql`select id from event_subscriptions where ${of}${limitedTo(BATCH_SIZE)}`,
  )
  if (found.length === 0) return 0
  const ids = found.map(row => row.id)
  const deliveries = await tx.run(
    sql`delete from event_deliveries where seq in (
          select seq from event_deliveries where ${isOneOf(sql`subscription_id`, ids)}${limitedTo(BATCH_SIZE)})`,
  )
  if (deliveries === BATCH_SIZE) return deliveries
  return deliveries + (await tx.run(sql`delete from event_subscriptions where ${isOneOf(sql`id`, ids)}`))
}
