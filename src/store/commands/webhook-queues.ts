/** Queues of webhook messages that cannot be sent yet; see `schema/001-tables.ts`. */
import type { MessageQueues } from '../../domain/events/webhook-room.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Transaction } from '../database.ts'
import { isJoined, isPending } from '../queries/event-deliveries.ts'
import { isJoinedWith, isOneOf, type Sql, sql, storeClock, valuesTable } from '../sql/tag.ts'

/** A full host is looked at again after this time even if no request to it ends. */
export const BUSY_MILLISECONDS = 1000
/** The pause after the first failure of a lane; it doubles with each further one. */
const FIRST_PAUSE_MILLISECONDS = 100
const MAX_DOUBLINGS = 10

/** Lets messages wait, each in its queue. A new queue is looked at after `milliseconds`. */
export async function putIntoQueues(
  tx: Transaction,
  waiting: readonly Readonly<{ id: string; queue: string; milliseconds: number }>[],
): Promise<void> {
  if (waiting.length === 0) return
  await tx.run(
    sql`update event_deliveries set waits_in = w.queue from ${valuesTable(waiting, ['id', 'queue'])} as w
        where event_deliveries.id = w.id and ${isJoined(waiting)} and ${isPending}`,
  )
  const pauses = new Map(waiting.map(({ queue, milliseconds }) => [queue, { name: queue, milliseconds }]))
  // A queue of that name is locked, so that no other process deletes it as empty.
  await tx.run(
    sql`insert into event_queues (name, next_at)
        select name, ${storeClock} + cast(milliseconds as bigint)
        from ${valuesTable([...pauses.values()], ['name', 'milliseconds'])} as q where 1 = 1 order by name
        on conflict (name) do update set next_at = event_queues.next_at`,
  )
}

/** Looks at queues again after a time, or deletes them if nothing waits in them. */
export async function rescheduleQueues(
  tx: Transaction,
  queues: readonly Readonly<{ name: string; milliseconds: number | undefined }>[],
): Promise<void> {
  const empty = queues.filter(queue => queue.milliseconds === undefined).map(({ name }) => name)
  if (empty.length > 0) await tx.run(sql`delete from event_queues where ${isOneOf(sql`name`, empty)}`)
  const later = queues.flatMap(({ name, milliseconds }) =>
    milliseconds === undefined ? [] : [{ name, milliseconds: Math.round(milliseconds) }],
  )
  if (later.length === 0) return
  await tx.run(
    sql`update event_queues set next_at = ${storeClock} + cast(q.milliseconds as bigint)
        from ${valuesTable(later, ['name', 'milliseconds'])} as q
        where event_queues.name = q.name and ${isJoinedWith(
          sql`event_queues.name`,
          later.map(({ name }) => name),
        )}`,
  )
}

/** Requests have ended well, so the next messages of their queues can be sent. */
export async function wakeQueues(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await tx.run(
    sql`update event_queues set failures = 0, next_at = ${storeClock} where ${isOneOf(sql`name`, names)}`,
  )
}

export interface FailedRequest {
  readonly queues: MessageQueues
  /** Whether the messages of the lane are sent in order, so that all wait for the retry. */
  readonly isOrdered: boolean
  readonly retryMilliseconds: number
  readonly maxPauseMilliseconds: number
}

/** A request has failed: the lane pauses, longer after every failure in a row. */
export async function pauseQueue(tx: Transaction, failed: FailedRequest): Promise<void> {
  const { queues, isOrdered, retryMilliseconds, maxPauseMilliseconds } = failed
  const longest = Math.round(isOrdered ? retryMilliseconds : maxPauseMilliseconds)
  const first = isOrdered ? longest : Math.min(FIRST_PAUSE_MILLISECONDS, longest)
  await tx.run(
    sql`insert into event_queues (name, next_at, failures)
        values (${queues.lane}, ${storeClock} + cast(${first} as bigint), 1)
        on conflict (name) do update set failures = event_queues.failures + 1,
          next_at = ${storeClock} + case
            when event_queues.failures >= ${MAX_DOUBLINGS}
              or cast(${first} as bigint) << event_queues.failures > ${longest} then cast(${longest} as bigint)
            else cast(${first} as bigint) << event_queues.failures end`,
  )
  if (queues.host !== queues.lane)
    await tx.run(sql`update event_queues set next_at = ${storeClock} where name = ${queues.host}`)
}

/** The beginning of a statement that ends deliveries without sending them. */
export const cancel = (): Sql =>
  sql`update event_deliveries set status = 'canceled', due_at = null, waits_in = null,
        finished_at = ${isoMillis(Date.now())}`
