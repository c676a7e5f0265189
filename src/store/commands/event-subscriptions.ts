import type { EventType } from '../../contract/events/event-type.ts'
import { findEventType } from '../../contract/events/event-types.ts'
import { type Refusal, refuse } from '../../contract/problem.ts'
import type { SubscriptionStatus, TransportMethod } from '../../contract/resources/event-subscription.ts'
import {
  type Condition,
  MAX_COST,
  MAX_FREE_WEBHOOKS,
  MAX_SOCKETS_OF_USER,
  MAX_SUBSCRIPTIONS_OF_SOCKET,
} from '../../domain/events/event-subscription.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import {
  type EventSubscriptionRow,
  hasAuthorized,
  type SubscriptionTotals,
  subscriptionColumns,
  subscriptionTotals,
} from '../queries/event-subscriptions.ts'
import { all, sql } from '../sql/tag.ts'
import { after, CAPS } from './cap-sizes.ts'
import { sendMessage } from './emit.ts'
import { authorize } from './event-authorization.ts'
import { removeSubscriptions } from './remove-subscriptions.ts'

export interface NewEventSubscription {
  readonly id: string
  readonly client_id: string
  /** The user of the token of a WebSocket; empty for an app token. */
  readonly owner: string
  /** The scopes of that token. */
  readonly scopes: readonly string[]
  readonly type: string
  readonly version: string
  readonly condition: Condition
  readonly topic: string
  readonly method: TransportMethod
  readonly callback: string | null
  readonly session_id: string | null
  readonly target: string
  readonly lane: string | null
  readonly identity: string
  readonly key_id: string | null
  readonly sealed: string | null
}

type Refused = Refusal<
  | 'malformed_parameter'
  | 'subscription_forbidden'
  | 'subscription_exists'
  | 'subscription_cost_exceeded'
  | 'too_many_subscriptions'
>

/** Adds a subscription. A webhook starts with the verification of its callback. */
export async function createEventSubscription(
  tx: Transaction,
  args: { subscription: NewEventSubscription; now: number },
): Promise<{ subscription: EventSubscriptionRow; totals: SubscriptionTotals } | Refused> {
  const wanted = args.subscription
  // So that no two subscriptions at once exceed a limit or are the same.
  await tx.lock(sql`select id from clients where id = ${wanted.client_id}`, 'clients')
  const type = findEventType(wanted.type, wanted.version)
  if (type === undefined) throw new Error(`there is no event type ${wanted.type}`)
  const unknown = await refuseUnknownUsers(tx, wanted.condition)
  if (unknown !== undefined) return unknown
  const authorization = await authorize(tx, type, wanted, args.now)
  if ('problem' in authorization) return authorization
  const same = await tx.get<EventSubscriptionRow>(
    sql`${subscriptionColumns} where identity = ${wanted.identity} and ended_at is null`,
  )
  // A client that could not connect at once when it was asked to move subscribes again (D-144).
  if (same !== undefined && (await hasMoved(tx, wanted.session_id)))
    return { subscription: same, totals: await subscriptionTotals(tx, wanted) }
  if (same !== undefined) return refuse('subscription_exists', same.id)
  const socket = wanted.session_id === null ? undefined : await findSocket(tx, wanted, wanted.session_id)
  if (socket !== undefined && 'problem' in socket) return socket

  const cost = await subscriptionCost(tx, type, wanted, args.now)
  const before = await subscriptionTotals(tx, wanted)
  const most = MAX_COST[wanted.method]
  if (before.total_cost + cost > most) return refuse('subscription_cost_exceeded', most)
  const isFree = cost === 0 && wanted.method === 'webhook'
  if (isFree && (await countFreeWebhooks(tx, wanted)) >= MAX_FREE_WEBHOOKS)
    return refuse(
      'too_many_subscriptions',
      `An application has at most ${MAX_FREE_WEBHOOKS} webhooks without cost with the same type and condition; delete one first.`,
    )
  const status: SubscriptionStatus =
    wanted.method === 'webhook' ? 'webhook_callback_verification_pending' : 'enabled'
  await tx.run(
    sql`insert into event_subscriptions (id, client_id, owner, type, version, condition, topic, authorized_by, status,
          cost, method, callback, session_id, connected_at, target, lane, identity, key_id, sealed, created_at)
        values (${wanted.id}, ${wanted.client_id}, ${wanted.owner}, ${wanted.type}, ${wanted.version},
          ${JSON.stringify(wanted.condition)}, ${wanted.topic}, ${authorization.by}, ${status}, ${cost},
          ${wanted.method}, ${wanted.callback}, ${wanted.session_id}, ${socket?.connected_at ?? null},
          ${wanted.target}, ${wanted.lane}, ${wanted.identity}, ${wanted.key_id}, ${wanted.sealed},
          ${isoMillis(args.now)})`,
  )
  if (wanted.method === 'webhook') await sendMessage(tx, 'webhook_callback_verification', wanted)
  const evicted = await capEndedSubscriptions(tx, wanted)
  const row = await tx.get<EventSubscriptionRow>(sql`${subscriptionColumns} where id = ${wanted.id}`)
  if (row === undefined) throw new Error('the subscription was just written')
  const totals = { total: before.total + 1 - evicted, total_cost: before.total_cost + cost }
  return { subscription: row, totals }
}

async function refuseUnknownUsers(
  tx: Transaction,
  condition: Condition,
): Promise<Refusal<'malformed_parameter'> | undefined> {
  for (const [name, id] of Object.entries(condition)) {
    if (!name.endsWith('user_id')) continue
    const user = await tx.get(sql`select id from users where id = ${id} and suspended_at is null`)
    if (user === undefined)
      return refuse('malformed_parameter', `condition.${name}`, `there is no user with the id "${id}"`)
  }
  return undefined
}

/** Free if the user in the condition has authorized the client. */
async function subscriptionCost(
  tx: Transaction,
  { subject }: EventType,
  wanted: NewEventSubscription,
  now: number,
): Promise<number> {
  const user_id = subject === 'organization_id' ? undefined : wanted.condition[subject]
  if (user_id === undefined) return 1
  return (await hasAuthorized(tx, { ...wanted, user_id, now })) ? 0 : 1
}

async function countFreeWebhooks(tx: Transaction, wanted: NewEventSubscription): Promise<number> {
  const row = await tx.get<{ free: number | string }>(
    sql`select count(*) as free from event_subscriptions
        where topic = ${wanted.topic} and ended_at is null and client_id = ${wanted.client_id}
          and condition = ${JSON.stringify(wanted.condition)} and method = 'webhook' and cost = 0`,
  )
  return Number(row?.free ?? 0)
}

async function hasMoved(tx: Transaction, session_id: string | null): Promise<boolean> {
  const moved = await tx.get(sql`select 1 as found from event_sockets where id = ${session_id} and moved = 1`)
  return moved !== undefined
}

async function findSocket(
  tx: Transaction,
  { client_id, owner }: NewEventSubscription,
  session_id: string,
): Promise<{ connected_at: string } | Refusal<'malformed_parameter' | 'too_many_subscriptions'>> {
  const socket = await tx.get<{ connected_at: string }>(
    sql`select connected_at from event_sockets where id = ${session_id}`,
  )
  const foreign = await tx.get(
    sql`select 1 as found from event_subscriptions
        where session_id = ${session_id} and not (client_id = ${client_id} and owner = ${owner}) limit 1`,
  )
  if (socket === undefined || foreign !== undefined)
    return refuse('malformed_parameter', 'transport.session_id', 'there is no such session, or it has ended')
  const sockets = await tx.all<{ session_id: string; subscriptions: number | string }>(
    sql`select session_id, count(*) as subscriptions from event_subscriptions
        where client_id = ${client_id} and owner = ${owner} and method = 'websocket' and ended_at is null
        group by session_id`,
  )
  const own = sockets.find(row => row.session_id === session_id)
  if (own === undefined && sockets.length >= MAX_SOCKETS_OF_USER)
    return refuse(
      'too_many_subscriptions',
      `A user has at most ${MAX_SOCKETS_OF_USER} WebSockets with subscriptions for an application; close one first.`,
    )
  if (Number(own?.subscriptions ?? 0) >= MAX_SUBSCRIPTIONS_OF_SOCKET)
    return refuse(
      'too_many_subscriptions',
      `A WebSocket has at most ${MAX_SUBSCRIPTIONS_OF_SOCKET} subscriptions; open another one.`,
    )
  return socket
}

/** Deletes a subscription, of a client or an owner if they are given, with its pending messages. */
export async function deleteEventSubscription(
  tx: Transaction,
  args: { id: string; client_id?: string | undefined; owner?: string | undefined },
): Promise<Refusal<'not_found'> | undefined> {
  const { id, client_id, owner } = args
  const conditions = [
    sql`id = ${id}`,
    ...(client_id === undefined ? [] : [sql`client_id = ${client_id}`]),
    ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
  ]
  const found = await tx.get<{ id: string }>(
    sql`select id from event_subscriptions where deleted_at is null and ${all(conditions)}`,
  )
  if (found === undefined) return refuse('not_found', 'subscription', args.id)
  await removeSubscriptions(tx, [id])
  tx.record({ subject: `event-subscription/${args.id}`, before: { id: args.id } })
  return undefined
}

/** Caps the ended subscriptions of a client, or of a user for a client, after one was added. Returns how many it deleted. */
async function capEndedSubscriptions(
  tx: Transaction,
  { client_id, owner }: { readonly client_id: string; readonly owner: string },
): Promise<number> {
  const excess = await tx.all<{ id: string }>(
    sql`select id from event_subscriptions
        where client_id = ${client_id} and owner = ${owner} and ended_at is not null and deleted_at is null
        order by created_at desc, id desc${after(CAPS.endedSubscriptionsOfClient + 1)}`,
  )
  if (excess.length === 0) return 0
  await removeSubscriptions(
    tx,
    excess.map(row => row.id),
  )
  return excess.length
}
