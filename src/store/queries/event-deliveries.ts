import type { Page, Window } from '../../contract/page.ts'
import type { DeliveryStatus, EventDelivery } from '../../contract/resources/event.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { pickedPage } from '../keyset.ts'
import { inOrderOf, inOrderWithin, type Order } from '../keyset-order.ts'
import { limitedTo, type Sql, sql, storeClock } from '../sql/tag.ts'

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

/** All, by `d`. */
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
function orderOf({ subscription_id, status }: DeliveryFilter, event_seq: number | undefined): Order {
  if (event_seq !== undefined) return inOrderWithin({ event_seq }, ['seq'])
  if (subscription_id !== undefined) return inOrderWithin({ subscription_id }, ['seq'])
  return status === undefined ? inOrderOf('seq') : inOrderWithin({ status }, ['seq'])
}

/** Messages that are still to be sent. */
export interface Backlog {
  readonly pending: number
  /** How long the oldest has been due; 0 if none is. */
  readonly lagMilliseconds: number
}

export const eventDeliveryQueries = (db: Database) => ({
  /** The messages to targets with this prefix. */
  backlog: async (prefix: string): Promise<Backlog> => {
    const row = await db.get<{ pending: number | string; lag: number | string | null }>(
      sql`select count(*) as pending, (select ${storeClock}) - min(due_at) as lag from event_deliveries
          where due_at is not null and target > ${prefix} and target < ${`${prefix}\u{10ffff}`}`,
    )
    return { pending: Number(row?.pending ?? 0), lagMilliseconds: Math.max(Number(row?.lag ?? 0), 0) }
  },

  /**
   * Targets with this prefix that have a message which is due, in order after `after`. Steps from target to target along the
   * index, however many messages each has.
   */
  dueTargets: (prefix: string, after: string, most: number) =>
    db.all<{ target: string }>(
      sql`with recursive targets (target) as (
            select min(target) from event_deliveries
            where due_at is not null and target > ${after} and target < ${`${prefix}\u{10ffff}`}
            union all
            select (select min(target) from event_deliveries
                    where due_at is not null and target > targets.target and target < ${`${prefix}\u{10ffff}`})
            from targets where targets.target is not null)
          select target from targets
          where target is not null and exists (
            select 1 from event_deliveries d where d.target = targets.target and d.due_at <= (select ${storeClock}))
          ${limitedTo(most)}`,
    ),

  events: (
    filter: { readonly type?: string | undefined; readonly subject?: string | undefined },
    window: Window,
  ): MaybePromise<Page<EventRow>> =>
    pickedPage<EventRow>(db, {
      select: sql`select seq, id, type, version, subject, occurred_at, body from events`,
      order:
        filter.subject !== undefined
          ? inOrderWithin({ subject: filter.subject }, ['seq'])
          : filter.type !== undefined
            ? inOrderWithin({ type: filter.type }, ['seq'])
            : inOrderOf('seq'),
      descending: true,
      window,
      keyOf: eventSortKey,
      keeps: row => filter.type === undefined || row.type === filter.type,
    }),

  page: async (filter: DeliveryFilter, window: Window): Promise<Page<DeliveryRow>> => {
    const event =
      filter.event_id === undefined
        ? undefined
        : await db.get<{ seq: number | string }>(sql`select seq from events where id = ${filter.event_id}`)
    if (filter.event_id !== undefined && event === undefined) return { rows: [], more: false }
    return pickedPage<DeliveryRow>(db, {
      select: sql`select * from event_deliveries`,
      order: orderOf(filter, event && Number(event.seq)),
      descending: true,
      window,
      keyOf: deliverySortKey,
      around: page => sql`${deliveriesIn(sql`(${page})`)} order by d.seq desc`,
      keeps: row =>
        (filter.subscription_id === undefined || row.subscription_id === filter.subscription_id) &&
        (filter.status === undefined || row.status === filter.status),
    })
  },
})
