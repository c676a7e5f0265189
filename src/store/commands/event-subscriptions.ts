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
  topicsAbout,
} from '../../domain/event-subscription.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { Transaction } from '../database.ts'
import {
  authorizedAmong,
  type EventSubscriptionRow,
  hasAuthorized,
  type SubscriptionTotals,
  subscriptionColumns,
  subscriptionTotals,
} from '../queries/event-subscriptions.ts'
import { all, isOneOf, lockRows, type Sql, sql } from '../sql/tag.ts'
import { beyond, CAPS } from './cap-sizes.ts'
import { sendMessage } from './emit.ts'

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

  const cost = await costOf(tx, type, wanted, args.now)
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
    const user = await tx.get(sql`select id from users where id = ${id}`)
    if (user === undefined)
      return refuse('malformed_parameter', `condition.${name}`, `there is no user with the id "${id}"`)
  }
  return undefined
}

type EditorAccess = Extract<EventType['access'], { readonly kind: 'editor' }>

/** The user whose authorization the subscription depends on, if any. */
async function authorize(
  tx: Transaction,
  type: EventType,
  wanted: NewEventSubscription,
  now: number,
): Promise<{ by: string | null } | Refusal<'subscription_forbidden'>> {
  const { access } = type
  if (access.kind === 'anyone') return { by: null }
  if (access.kind === 'organization') {
    const client = await tx.get<{ organization_id: string | null }>(
      sql`select organization_id from clients where id = ${wanted.client_id}`,
    )
    return client?.organization_id === wanted.condition.organization_id
      ? { by: null }
      : refuse('subscription_forbidden', 'the client belongs to another organization')
  }
  const broadcaster = wanted.condition.broadcaster_user_id ?? ''
  const named = access.as === undefined ? undefined : wanted.condition[access.as]
  if (wanted.method === 'websocket') {
    if (named !== undefined && named !== wanted.owner)
      return refuse('subscription_forbidden', `${access.as} must be the user of the token`)
    if (!wanted.scopes.includes(access.scope))
      return refuse('subscription_forbidden', `the token needs the scope ${access.scope}`)
    return (await isOwnerOrEditor(tx, broadcaster, wanted.owner))
      ? { by: wanted.owner }
      : refuse('subscription_forbidden', 'the user must be the broadcaster or an editor')
  }
  const by = await authorizerOf(tx, access, wanted, now)
  if (by !== undefined) return { by }
  return refuse(
    'subscription_forbidden',
    `the broadcaster or an editor has to authorize the application with the scope ${access.scope}`,
  )
}

/** The broadcaster or an editor who has authorized the client of a webhook; the broadcaster first, who stays longest. */
async function authorizerOf(
  tx: Transaction,
  access: EditorAccess,
  { client_id, condition }: { readonly client_id: string; readonly condition: Condition },
  now: number,
): Promise<string | undefined> {
  const broadcaster = condition.broadcaster_user_id ?? ''
  const named = access.as === undefined ? undefined : condition[access.as]
  const authorization = { client_id, scope: access.scope, now }
  const editors = sql`user_id in (select editor_id from editors where user_id = ${broadcaster})`
  const groups = named === undefined ? [sql`user_id = ${broadcaster}`, editors] : [sql`user_id = ${named}`]
  for (const users of groups) {
    const by = await authorizedAmong(tx, users, authorization)
    if (by !== undefined && (await isOwnerOrEditor(tx, broadcaster, by))) return by
  }
  return undefined
}

/** An editor is locked, so that a removal at the same time ends the subscription. */
async function isOwnerOrEditor(tx: Transaction, broadcaster: string, user: string): Promise<boolean> {
  if (user === broadcaster) return true
  const editor = await tx.get(
    sql`select 1 as found from editors where user_id = ${broadcaster} and editor_id = ${user}${lockRows}`,
  )
  return editor !== undefined
}

/** Free if the user in the condition has authorized the client. */
async function costOf(
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
  const gone = await tx.run(sql`delete from event_subscriptions where ${all(conditions)}`)
  if (gone === 0) return refuse('not_found', 'subscription', args.id)
  tx.record({ subject: `event-subscription/${args.id}`, before: { id: args.id } })
  return undefined
}

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
  const ended = await tx.all<{ id: string }>(
    sql`update event_subscriptions set status = ${status}, ended_at = ${isoMillis(Date.now())}
        where ended_at is null and ${where} returning id`,
  )
  if (ended.length === 0) return 0
  const ids = ended.map(row => row.id)
  await tx.run(
    sql`update event_deliveries set status = 'canceled', due_at = null, finished_at = ${isoMillis(Date.now())}
        where ${isOneOf(sql`subscription_id`, ids)} and due_at is not null`,
  )
  for (const row of notified) await sendMessage(tx, 'revocation', row)
  return ended.length
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

interface Depending {
  readonly id: string
  readonly client_id: string
  readonly owner: string
  readonly type: string
  readonly version: string
  readonly condition: string
  readonly method: TransportMethod
}

async function stillAuthorizedBy(
  tx: Transaction,
  access: EditorAccess,
  { client_id, owner, method, ...row }: Depending,
  now: number,
): Promise<string | undefined> {
  const condition = JSON.parse(row.condition) as Condition
  if (method === 'webhook') return authorizerOf(tx, access, { client_id, condition }, now)
  const isAuthorized =
    (await isOwnerOrEditor(tx, condition.broadcaster_user_id ?? '', owner)) &&
    (await hasAuthorized(tx, { client_id, user_id: owner, scope: access.scope, now }))
  return isAuthorized ? owner : undefined
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

/** Caps the ended subscriptions of a client, or of a user for a client, after one was added. Returns how many it deleted. */
async function capEndedSubscriptions(
  tx: Transaction,
  { client_id, owner }: { readonly client_id: string; readonly owner: string },
): Promise<number> {
  const excess = await tx.all<{ id: string }>(
    sql`select id from event_subscriptions
        where client_id = ${client_id} and owner = ${owner} and ended_at is not null
        order by created_at desc, id desc${beyond(CAPS.endedSubscriptionsOfClient + 1)}`,
  )
  if (excess.length === 0) return 0
  const ids = excess.map(row => row.id)
  return tx.run(sql`delete from event_subscriptions where ${isOneOf(sql`id`, ids)}`)
}
