import type { Page, PageRequest } from '../../contract/page.ts'
import type {
  EventSubscription,
  SubscriptionStatus,
  TransportMethod,
} from '../../contract/resources/event-subscription.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Database } from '../database.ts'
import { filteredPage } from '../keyset.ts'
import { type Order, orderBy, orderByWithin } from '../keyset-order.ts'
import { type Sql, sql } from '../sql/tag.ts'

export interface EventSubscriptionRow {
  readonly id: string
  readonly client_id: string
  readonly type: string
  readonly version: string
  readonly condition: string
  readonly status: SubscriptionStatus
  readonly cost: number
  readonly method: TransportMethod
  readonly callback: string | null
  readonly session_id: string | null
  readonly connected_at: string | null
  readonly created_at: string
  /** If it has been deleted, and its deliveries are being deleted. */
  readonly deleted_at?: string | null
}

export const subscriptionColumns = sql`select id, client_id, type, version, condition, status, cost, method, callback,
  session_id, connected_at, created_at, deleted_at from event_subscriptions`

/** The owner of subscriptions: a client, for webhooks; a client and a user, for WebSockets. */
export interface SubscriptionOwner {
  readonly client_id: string
  /** Empty for an app token. */
  readonly owner: string
}

export interface SubscriptionTotals {
  readonly total: number
  readonly total_cost: number
}

export interface SubscriptionFilter {
  readonly status?: SubscriptionStatus | undefined
  readonly type?: string | undefined
  readonly user_id?: string | undefined
  readonly subscription_id?: string | undefined
}

const OLDEST_FIRST = orderBy('created_at', 'id')
export const subscriptionSortKey = OLDEST_FIRST.sortKey

export const eventSubscriptionQueries = (db: Database) => ({
  /** Filters pick from the subscriptions of one client, whose number is limited by their cost. */
  page: (
    { client_id, owner }: SubscriptionOwner,
    filter: SubscriptionFilter,
    window: PageRequest,
  ): Promise<Page<EventSubscriptionRow>> =>
    filteredPage<EventSubscriptionRow>(db, {
      select: subscriptionColumns,
      where: [sql`client_id = ${client_id}`, sql`owner = ${owner}`],
      order: OLDEST_FIRST,
      window,
      filter: row => isPicked(row, filter),
    }),

  totals: (of: SubscriptionOwner) => subscriptionTotals(db, of),

  find: (id: string) =>
    db.get<EventSubscriptionRow>(sql`${subscriptionColumns} where id = ${id} and deleted_at is null`),

  /** A page of the subscriptions of all clients. The most selective filter uses an index, the others are applied to its rows. */
  all: (filter: OperatorFilter, window: PageRequest): Promise<Page<EventSubscriptionRow>> =>
    filteredPage<EventSubscriptionRow>(db, {
      select: subscriptionColumns,
      order: chooseOrder(filter),
      window,
      filter: row => isPicked(row, filter),
    }),
})

type OperatorFilter = Pick<SubscriptionFilter, 'status' | 'type'> & {
  readonly client_id?: string | undefined
}

/** Most subscriptions are enabled, so that status comes last. */
function chooseOrder({ client_id, type, status }: OperatorFilter): Order {
  const within = (column: string, value: string) => orderByWithin({ [column]: value }, ['created_at', 'id'])
  if (client_id !== undefined) return within('client_id', client_id)
  if (status !== undefined && status !== 'enabled') return within('status', status)
  if (type !== undefined) return within('type', type)
  return status === undefined ? OLDEST_FIRST : within('status', status)
}

function isPicked(row: EventSubscriptionRow, filter: SubscriptionFilter): boolean {
  if (typeof row.deleted_at === 'string') return false
  if (filter.status !== undefined && row.status !== filter.status) return false
  if (filter.type !== undefined && row.type !== filter.type) return false
  if (filter.subscription_id !== undefined && row.id !== filter.subscription_id) return false
  return filter.user_id === undefined || namesUser(row, filter.user_id)
}

function namesUser({ condition }: EventSubscriptionRow, user_id: string): boolean {
  const fields = Object.entries(JSON.parse(condition) as Record<string, string>)
  return fields.some(([name, value]) => name.endsWith('user_id') && value === user_id)
}

/** All subscriptions count, and the costs of those that have not ended. */
export async function subscriptionTotals(
  db: Database,
  { client_id, owner }: SubscriptionOwner,
): Promise<SubscriptionTotals> {
  const row = await db.get<{ total: number | string; total_cost: number | string }>(
    sql`select count(*) as total, coalesce(sum(case when ended_at is null then cost else 0 end), 0) as total_cost
        from event_subscriptions where client_id = ${client_id} and owner = ${owner} and deleted_at is null`,
  )
  return { total: Number(row?.total ?? 0), total_cost: Number(row?.total_cost ?? 0) }
}

interface Authorization {
  readonly client_id: string
  /** Default: any. */
  readonly scope?: string
  readonly now: number
}

/** Whether a user has authorized a client: by a live token or a remembered consent. */
export async function hasAuthorized(
  db: Database,
  args: Authorization & { readonly user_id: string },
): Promise<boolean> {
  return (await authorizedAmong(db, sql`user_id = ${args.user_id}`, args)) !== undefined
}

/** One of these users who has authorized a client. */
export async function authorizedAmong(
  db: Database,
  users: Sql,
  { client_id, scope, now }: Authorization,
): Promise<string | undefined> {
  // Scopes are stored as a list in JSON, and contain no character that is special in a pattern but the underscore.
  const hasScope = scope === undefined ? sql`1 = 1` : sql`scopes like ${`%"${scope}"%`}`
  const found = await db.get<{ user_id: string }>(
    sql`select user_id from tokens
        where ${users} and client_id = ${client_id} and kind in ('user', 'refresh')
          and expires_at > ${isoMillis(now)} and ${hasScope}
        union all
        select user_id from connections where ${users} and client_id = ${client_id} and ${hasScope}
        limit 1`,
  )
  return found?.user_id
}

/** A subscription as the API shows it. */
export function asEventSubscription(row: EventSubscriptionRow): EventSubscription {
  const { id, status, type, version, condition, created_at, cost, method } = row
  const transport = {
    method,
    ...(row.callback !== null && { callback: row.callback }),
    ...(row.session_id !== null && { session_id: row.session_id }),
    ...(row.connected_at !== null && { connected_at: row.connected_at }),
  }
  return { id, status, type, version, condition: JSON.parse(condition), created_at, transport, cost }
}
