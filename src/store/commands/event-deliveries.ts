import { type Refusal, refuse } from '../../contract/problem.ts'
import type { EventDelivery } from '../../contract/resources/event.ts'
import type { SubscriptionStatus } from '../../contract/resources/event-subscription.ts'
import type { MessageQueues } from '../../domain/events/webhook-room.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import {
  asEventDelivery,
  type DeliveryRow,
  deliveryColumns,
  isJoined,
  isPending,
} from '../queries/event-deliveries.ts'
import { isOneOf, limitedTo, readAlongIndexes, sql, storeClock, valuesTable } from '../sql/tag.ts'
import { endSubscriptions } from './end-subscriptions.ts'
import { type FailedRequest, pauseQueue, wakeQueues } from './webhook-queues.ts'

/** The outcome of one attempt to deliver a message. */
export interface DeliveryOutcome {
  readonly ids: readonly string[]
  /** `retry`: due again in `retryMilliseconds`. */
  readonly outcome: 'delivered' | 'retry' | 'failed'
  readonly retryMilliseconds?: number
  /** Whether nothing was sent, so that it does not count as an attempt. */
  readonly isUnsent?: boolean
  /** The status of the response, if there was one. */
  readonly answer_status?: number | undefined
  /** Why it failed, for the operator. */
  readonly answer?: string | undefined
  readonly milliseconds: number
  /** After a webhook message was delivered: the queues that may continue. */
  readonly queues?: MessageQueues
  /** After a webhook message was not delivered: the queue that pauses. */
  readonly failed?: Omit<FailedRequest, 'retryMilliseconds'>
  /** The new status of the subscription, if it changes. */
  readonly subscription?: {
    readonly id: string
    readonly status: SubscriptionStatus
    readonly revokes: boolean
  }
}

export async function settleDeliveries(
  tx: Transaction,
  args: { outcomes: readonly DeliveryOutcome[] },
): Promise<void> {
  if (args.outcomes.length === 0) return
  await tx.get(readAlongIndexes)
  await settleAlongIndexes(tx, args.outcomes)
}

/** The same in a transaction that reads along indexes already. */
export async function settleAlongIndexes(
  tx: Transaction,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return
  const finished_at = isoMillis(Date.now())
  const [delivered, others] = [
    outcomes.filter(each => each.outcome === 'delivered'),
    outcomes.filter(each => each.outcome !== 'delivered'),
  ]
  await settleDelivered(tx, delivered, finished_at)
  for (const each of others) {
    const { outcome, retryMilliseconds = 0, answer_status = null, answer = null, milliseconds } = each
    const these = sql`${isOneOf(sql`id`, each.ids)} and ${isPending}`
    if (outcome === 'retry')
      await tx.run(
        sql`update event_deliveries set due_at = ${storeClock} + cast(${Math.round(retryMilliseconds)} as bigint),
              attempts = attempts - ${each.isUnsent === true ? 1 : 0}, answer_status = ${answer_status}, answer = ${answer}, milliseconds = ${milliseconds}
            where ${these}`,
      )
    else
      await tx.run(
        sql`update event_deliveries set status = ${outcome}, due_at = null, waits_in = null,
              finished_at = ${finished_at}, answer_status = ${answer_status}, answer = ${answer},
              milliseconds = ${milliseconds}
            where ${these}`,
      )
    if (each.failed !== undefined) await pauseQueue(tx, { ...each.failed, retryMilliseconds })
  }
  for (const { subscription } of outcomes) {
    if (subscription?.status === 'enabled')
      await tx.run(
        sql`update event_subscriptions set status = 'enabled'
            where id = ${subscription.id} and status = 'webhook_callback_verification_pending'`,
      )
    else if (subscription !== undefined)
      await endSubscriptions(tx, sql`id = ${subscription.id}`, subscription.status, subscription)
  }
  await wakeQueues(tx, [...new Set(delivered.flatMap(({ queues }) => (queues ? Object.values(queues) : [])))])
}

/** The outcome of messages that were confirmed on a WebSocket. */
export const confirmedOutcome = (ids: readonly string[]): DeliveryOutcome => ({
  ids,
  outcome: 'delivered',
  milliseconds: 0,
})

/** All in one statement: nearly every message is delivered at the first attempt. */
async function settleDelivered(
  tx: Transaction,
  delivered: readonly DeliveryOutcome[],
  finished_at: string,
): Promise<void> {
  const rows = delivered.flatMap(({ ids, answer_status = null, milliseconds }) =>
    ids.map(id => ({ id, answer_status, milliseconds })),
  )
  if (rows.length === 0) return
  await tx.run(
    sql`update event_deliveries set status = 'delivered', due_at = null, waits_in = null, finished_at = ${finished_at},
          answer_status = cast(done.answer_status as integer), answer = null,
          milliseconds = cast(done.milliseconds as integer)
        from ${valuesTable(rows, ['id', 'answer_status', 'milliseconds'])} as done
        where event_deliveries.id = done.id and ${isJoined(rows)} and ${isPending}`,
  )
}

const pendingAgain = sql`update event_deliveries set status = 'pending', attempts = 0, due_at = ${storeClock},
  waits_in = null, finished_at = null`

/** Sends a message again, with the others of the same request. */
export async function resendDelivery(
  tx: Transaction,
  { id }: { id: string },
): Promise<EventDelivery | Refusal<'not_found' | 'subscription_ended'>> {
  const found = await tx.get<{ message: string; ended_at: string | null }>(
    sql`select d.message, s.ended_at from event_deliveries d join event_subscriptions s on s.id = d.subscription_id
        where d.id = ${id}`,
  )
  if (found === undefined) return refuse('not_found', 'delivery', id)
  if (found.ended_at !== null) return refuse('subscription_ended')
  await tx.run(sql`${pendingAgain} where message = ${found.message}`)
  const row = await tx.get<DeliveryRow>(sql`${deliveryColumns} where d.id = ${id}`)
  if (row === undefined) throw new Error('the delivery was just written')
  tx.record({ subject: `event-delivery/${id}`, after: { resent: true } })
  tx.announce()
  return asEventDelivery(row)
}

const REPLAY_BATCH_SIZE = 500

/** Sends finished notifications since a time again, the newest first: some of them. `last` is null at the end. */
export async function replayDeliveries(
  tx: Transaction,
  args: { since: string; subscription_id?: string | undefined; before: number },
): Promise<{ messages: number; last: number | null }> {
  const of =
    args.subscription_id === undefined ? sql`1 = 1` : sql`d.subscription_id = ${args.subscription_id}`
  const rows = await tx.all<{ seq: number | string; message: string; created_at: string; finished: number }>(
    sql`select d.seq, d.message, d.created_at,
          case when d.kind = 'notification' and d.due_at is null and s.status = 'enabled' then 1 else 0 end as finished
        from event_deliveries d join event_subscriptions s on s.id = d.subscription_id
        where d.seq < ${args.before} and ${of} order by d.seq desc${limitedTo(REPLAY_BATCH_SIZE)}`,
  )
  const since = rows.filter(row => row.created_at >= args.since)
  const messages = [...new Set(since.filter(row => row.finished === 1).map(row => row.message))]
  if (messages.length > 0) {
    await tx.run(sql`${pendingAgain} where ${isOneOf(sql`message`, messages)} and due_at is null`)
    tx.record({ subject: 'events', after: { replayed: messages.length, since: args.since } })
    tx.announce()
  }
  const isEnd = since.length < REPLAY_BATCH_SIZE
  return { messages: messages.length, last: isEnd ? null : Number(rows.at(-1)?.seq) }
}
