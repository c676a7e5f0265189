/** The end of event subscriptions, with what they depend on (D-133). */
import { findEventType } from '../../contract/events/event-types.ts'
import type { SubscriptionStatus, TransportMethod } from '../../contract/resources/event-subscription.ts'
import { topicsAbout } from '../../domain/events/event-subscription.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isPending } from '../queries/event-deliveries.ts'
import { isOneOf, limitedTo, lockRows, readAlongIndexes, type Sql, sql } from '../sql/tag.ts'
import { sendMessage } from './emit.ts'
import { type Depending, stillAuthorizedBy } from './event-authorization.ts'
import { cancel, wakeQueues } from './webhook-queues.ts'

/** Ends subscriptions: nothing more is sent to them but, to those that are revoked, a last message. */
export async function endSubscriptions(
  tx: Transaction,
  where: Sql,
  status: SubscriptionStatus,
  options: { readonly revokes: boolean },
): Promise<number> {
  // A callback that was never verified gets no message.
  const notified = options.revokes
    ? await tx.all<{ id: string; target: string }>(
        sql`select id, target from event_subscriptions
            where ended_at is null and status = 'enabled' and ${where}${lockRows}`,
      )
    : []
  const ended = await tx.all<Ended>(
    sql`update event_subscriptions set status = ${status}, ended_at = ${isoMillis(Date.now())}
        where ended_at is null and ${where} returning id, lane, method`,
  )
  if (ended.length === 0) return 0
  await cancelDeliveries(tx, ended)
  for (const row of notified) await sendMessage(tx, 'revocation', row)
  return ended.length
}

interface Ended {
  readonly id: string
  readonly lane: string | null
  readonly method: TransportMethod
}

/** Webhook messages that are canceled at once. If more wait, claims cancel the others, some at a time. */
const CANCEL_BATCH_SIZE = 500

async function cancelDeliveries(tx: Transaction, ended: readonly Ended[]): Promise<void> {
  const pending = (method: TransportMethod) => {
    const ids = ended.filter(row => row.method === method).map(row => row.id)
    return sql`${isOneOf(sql`subscription_id`, ids)} and due_at is not null`
  }
  await tx.get(readAlongIndexes)
  await tx.run(sql`${cancel()} where ${pending('websocket')}`)
  const webhooks = ended.filter(row => row.method === 'webhook')
  if (webhooks.length === 0) return
  const waiting = await tx.all<{ id: string }>(
    sql`select id from event_deliveries where ${pending('webhook')}${limitedTo(CANCEL_BATCH_SIZE)}`,
  )
  const ids = waiting.map(({ id }) => id)
  await tx.run(sql`${cancel()} where ${isOneOf(sql`id`, ids)} and ${isPending}`)
  await wakeQueues(
    tx,
    webhooks.map(({ id, lane }) => lane ?? id),
  )
}

/** Ends the subscriptions of a client that depend on an authorization which its user has withdrawn. */
export function endUnauthorizedSubscriptions(
  tx: Transaction,
  { client_id, user_id, now }: { client_id: string; user_id: string; now: number },
): Promise<void> {
  return endUnauthorized(tx, sql`authorized_by = ${user_id} and client_id = ${client_id}`, now)
}

/** Ends the subscriptions about a channel that depend on an editor who has been removed. */
export function endSubscriptionsOfEditor(
  tx: Transaction,
  { user_id, editor_id }: { user_id: string; editor_id: string },
): Promise<void> {
  const about = isOneOf(sql`topic`, topicsAbout(user_id))
  return endUnauthorized(tx, sql`authorized_by = ${editor_id} and ${about}`, Date.now())
}

/** Ends those of some subscriptions that are no longer authorized. A webhook may have another user who authorizes it. */
async function endUnauthorized(tx: Transaction, where: Sql, now: number): Promise<void> {
  const depending = await tx.all<Depending>(
    sql`select id, client_id, owner, type, version, condition, method from event_subscriptions
        where ${where} and ended_at is null`,
  )
  for (const row of depending) {
    const access = findEventType(row.type, row.version)?.access
    if (access?.kind !== 'editor') continue
    const by = await stillAuthorizedBy(tx, access, row, now)
    if (by === undefined)
      await endSubscriptions(tx, sql`id = ${row.id}`, 'authorization_revoked', { revokes: true })
    else await tx.run(sql`update event_subscriptions set authorized_by = ${by} where id = ${row.id}`)
  }
}

/** Ends the subscriptions of a client about an organization that it no longer belongs to. */
export async function endSubscriptionsToOrganization(
  tx: Transaction,
  { client_id, organization_id }: { client_id: string; organization_id: string },
): Promise<void> {
  const about = isOneOf(sql`topic`, topicsAbout(organization_id))
  const depending = sql`client_id = ${client_id} and ${about}`
  await endSubscriptions(tx, depending, 'authorization_revoked', { revokes: true })
}

/** Ends the subscriptions about a user who is being deleted, and those that depend on the user. */
export async function endSubscriptionsAbout(tx: Transaction, user_id: string): Promise<void> {
  const about = isOneOf(sql`topic`, topicsAbout(user_id))
  await endSubscriptions(tx, sql`${about}`, 'user_removed', { revokes: true })
  await endSubscriptions(tx, sql`authorized_by = ${user_id}`, 'user_removed', { revokes: true })
  // The condition of its index.
  const owned = sql`owner = ${user_id} and owner <> ''`
  await endSubscriptions(tx, owned, 'user_removed', { revokes: true })
}
