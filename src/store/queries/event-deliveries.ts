import type { Page, Window } from '../../contract/page.ts'
import type { DeliveryStatus, EventDelivery } from '../../contract/resources/event.ts'
import { isoMillis } from '../../kit/clock.ts'
import type { MaybePromise } from '../../kit/maybe-promise.ts'
import type { Database } from '../database.ts'
import { inOrderOf, pickedPage } from '../keyset.ts'
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

/** The columns of a `DeliveryRow`, of deliveries `d`. */
export const deliveryColumns = sql`select d.seq, d.id, d.message as message_id, d.kind, d.subscription_id, s.type,
  e.id as event_id, d.status, d.attempts, d.created_at, d.due_at, d.finished_at, d.answer_status, d.answer,
  d.milliseconds
  from event_deliveries d join event_subscriptions s on s.id = d.subscription_id left join events e on e.seq = d.event_seq`

export function asEventDelivery({ seq: _, due_at, ...row }: DeliveryRow): EventDelivery {
  return { ...row, due_at: due_at === null ? null : isoMillis(Number(due_at)) }
}

interface DeliveryFilter {
  readonly subscription_id?: string | undefined
  readonly event_id?: string | undefined
  readonly status?: DeliveryStatus | undefined
}

/** The most selective filter has an index, and the others pick. */
function deliveriesOf({ subscription_id, event_id, status }: DeliveryFilter): Sql[] {
  if (event_id !== undefined) return [sql`d.event_seq = (select seq from events where id = ${event_id})`]
  if (subscription_id !== undefined) return [sql`d.subscription_id = ${subscription_id}`]
  return status === undefined ? [] : [sql`d.status = ${status}`]
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
      where:
        filter.subject !== undefined
          ? [sql`subject = ${filter.subject}`]
          : filter.type !== undefined
            ? [sql`type = ${filter.type}`]
            : [],
      order: inOrderOf('seq'),
      descending: true,
      window,
      keyOf: eventSortKey,
      keeps: row => filter.type === undefined || row.type === filter.type,
    }),

  page: (filter: DeliveryFilter, window: Window): MaybePromise<Page<DeliveryRow>> =>
    pickedPage<DeliveryRow>(db, {
      select: deliveryColumns,
      where: deliveriesOf(filter),
      order: inOrderOf('d.seq'),
      descending: true,
      window,
      keyOf: deliverySortKey,
      keeps: row =>
        (filter.subscription_id === undefined || row.subscription_id === filter.subscription_id) &&
        (filter.status === undefined || row.status === filter.status),
    }),
})
