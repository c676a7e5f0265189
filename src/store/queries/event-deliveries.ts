import type { Page, PageRequest } from '../../contract/page.ts'
import type { DeliveryStatus, EventDelivery } from '../../contract/resources/event.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Database } from '../database.ts'
import { filteredPage } from '../keyset.ts'
import { type Order, orderBy, orderByWithin } from '../keyset-order.ts'
import { isJoinedWith, limitedTo, type Sql, sql, storeClock } from '../sql/tag.ts'

/** An event as it is stored; `body` is JSON. */
export interface EventRow {
  readonly seq: number | string
  readonly id: string
  readonly type: string
  readonly version: string
  readonly subject: string
  readonly occurred_at: string
  readonly body: string
}

export interface DeliveryRow extends Omit<EventDelivery, 'due_at'> {
  readonly seq: number | string
  readonly due_at: number | string | null
}

export const eventSortKey = ({ seq }: EventRow) => [Number(seq)]
export const deliverySortKey = ({ seq }: DeliveryRow) => [Number(seq)]

/** The columns of a `DeliveryRow`, of some deliveries. Not joined: PostgreSQL might read all subscriptions for a page. */
const deliveriesIn = (
  some: Sql,
): Sql => sql`select d.seq, d.id, d.message as message_id, d.kind, d.subscription_id,
  (select s.type from event_subscriptions s where s.id = d.subscription_id) as type,
  (select e.id from events e where e.seq = d.event_seq) as event_id,
  d.status, d.attempts, d.created_at, d.due_at, d.finished_at, d.answer_status, d.answer, d.milliseconds
  from ${some} d`

/** Selects all deliveries; the table has the alias `d`. */
export const deliveryColumns = deliveriesIn(sql`event_deliveries`)

export function asEventDelivery({ seq: _, due_at, ...row }: DeliveryRow): EventDelivery {
  return { ...row, due_at: due_at === null ? null : isoMillis(Number(due_at)) }
}

interface DeliveryFilter {
  readonly subscription_id?: string | undefined
  readonly event_id?: string | undefined
  readonly status?: DeliveryStatus | undefined
}

/** The most selective filter has an index, and the others pick. */
function chooseOrder({ subscription_id, status }: DeliveryFilter, event_seq: number | undefined): Order {
  if (event_seq !== undefined) return orderByWithin({ event_seq }, ['seq'])
  if (subscription_id !== undefined) return orderByWithin({ subscription_id }, ['seq'])
  return status === undefined ? orderBy('seq') : orderByWithin({ status }, ['seq'])
}

/**
 * Of rows that are found by their ids or message. A plain condition on `due_at` would let PostgreSQL read all that is pending
 * instead, if it took that for little when it planned the statement.
 */
export const isPending = sql`coalesce(due_at, 0) > 0`
export const isDue = sql`coalesce(due_at, 9223372036854775807) <= (select ${storeClock})`

/** Beside the join of deliveries with a table of values. */
export const isJoined = (rows: readonly { readonly id: string }[]) =>
  isJoinedWith(
    sql`event_deliveries.id`,
    rows.map(({ id }) => id),
  )

/** The conditions of the indexes. */
const isScheduled = sql`due_at is not null and waits_in is null and target < 'websocket:'`
const isToSocket = sql`due_at is not null and target >= 'websocket:'`

const nextQueue = sql`select next_at from event_queues order by next_at limit 1`

const MAX_COUNTED = 10_000

/** Messages that are still to be sent. */
export interface Backlog {
  /** At most 10,000. */
  readonly pending: number
  /** How long the oldest has been due; 0 if none is. */
  readonly lagMilliseconds: number
}

/** `reserved` is for what is asked again and again, whether or not there is a message. */
export const eventDeliveryQueries = (db: Database, reserved: Database) => ({
  /** Webhook messages that are still to be sent. Many are not counted to the end, so that the cost is bounded. */
  backlog: async (): Promise<Backlog> => {
    // In the order of the indexes: without one, PostgreSQL might read the whole table for the few rows that are pending.
    const scheduled = sql`select due_at from event_deliveries where ${isScheduled} order by due_at, seq`
    const waiting = sql`select seq from event_deliveries where waits_in is not null and due_at is not null
      order by waits_in, seq`
    const row = await db.get<{
      scheduled: number | string
      waiting: number | string
      lag: number | string | null
    }>(
      sql`select (select count(*) from (${scheduled}${limitedTo(MAX_COUNTED)}) as s) as scheduled,
            (select count(*) from (${waiting}${limitedTo(MAX_COUNTED)}) as w) as waiting,
            (select ${storeClock}) - (select min(at) from (
              select (${scheduled} limit 1) as at union all select (${nextQueue}) as at) as dues) as lag`,
    )
    const pending = Number(row?.scheduled ?? 0) + Number(row?.waiting ?? 0)
    return { pending: Math.min(pending, MAX_COUNTED), lagMilliseconds: Math.max(Number(row?.lag ?? 0), 0) }
  },

  /** Whether there is a webhook message to look at now. */
  isWebhookDue: async (): Promise<boolean> => {
    const row = await reserved.get<{
      now: number | string
      at: number | string | null
      queue: number | string | null
    }>(
      sql`select ${storeClock} as now,
            (select due_at from event_deliveries where ${isScheduled} order by due_at, seq limit 1) as at,
            (${nextQueue}) as queue`,
    )
    const isDue = (at: number | string | null | undefined) =>
      at !== null && at !== undefined && Number(at) <= Number(row?.now)
    return isDue(row?.at) || isDue(row?.queue)
  },

  /**
   * Targets of WebSockets that have a message which is due, in order after `after`. Steps from target to target along the
   * index, however many messages each has.
   */
  dueSockets: (after: string, most: number) =>
    reserved.all<{ target: string }>(
      sql`with recursive targets (target) as (
            select min(target) from event_deliveries where ${isToSocket} and target > ${after}
            union all
            select (select min(target) from event_deliveries where ${isToSocket} and target > targets.target)
            from targets where targets.target is not null)
          select target from targets
          where target is not null and exists (
            select 1 from event_deliveries d
            where d.target = targets.target and d.target >= 'websocket:' and d.due_at <= (select ${storeClock}))
          ${limitedTo(most)}`,
    ),

  events: (
    filter: { readonly type?: string | undefined; readonly subject?: string | undefined },
    window: PageRequest,
  ): Promise<Page<EventRow>> =>
    filteredPage<EventRow>(db, {
      select: sql`select seq, id, type, version, subject, occurred_at, body from events`,
      order:
        filter.subject !== undefined
          ? orderByWithin({ subject: filter.subject }, ['seq'])
          : filter.type !== undefined
            ? orderByWithin({ type: filter.type }, ['seq'])
            : orderBy('seq'),
      descending: true,
      window,
      sortKey: eventSortKey,
      filter: row => filter.type === undefined || row.type === filter.type,
    }),

  page: async (filter: DeliveryFilter, window: PageRequest): Promise<Page<DeliveryRow>> => {
    const event =
      filter.event_id === undefined
        ? undefined
        : await db.get<{ seq: number | string }>(sql`select seq from events where id = ${filter.event_id}`)
    if (filter.event_id !== undefined && event === undefined) return { rows: [], more: false }
    return filteredPage<DeliveryRow>(db, {
      select: sql`select * from event_deliveries`,
      order: chooseOrder(filter, event && Number(event.seq)),
      descending: true,
      window,
      sortKey: deliverySortKey,
      around: page => sql`${deliveriesIn(sql`(${page})`)} order by d.seq desc`,
      filter: row =>
        (filter.subscription_id === undefined || row.subscription_id === filter.subscription_id) &&
        (filter.status === undefined || row.status === filter.status),
    })
  },
})
