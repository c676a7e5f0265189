import type { EventType } from '../../contract/events/event-type.ts'
import { type EventOf, type EventTypeName, eventTypeNamed } from '../../contract/events/event-types.ts'
import { type Condition, eventTopic, meets } from '../../domain/event-subscription.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { uuid, uuidV7 } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Lookup } from '../combinable.ts'
import type { Transaction } from '../database.ts'
import { readAlongIndexes, sql, storeClock, valuesTable } from '../sql/tag.ts'

interface Listener {
  readonly id: string
  readonly topic: string
  readonly condition: string
  readonly target: string
  readonly lane: string | null
}

/** An event about a subject: a broadcaster, a user or an organization. */
export interface Emitted<Name extends EventTypeName> {
  readonly subject: string
  readonly event: EventOf<Name>
}

/**
 * Writes events, and a delivery for each subscription that wants one, in the transaction of the change. `make` is called
 * only if there is such a subscription, because most events have none.
 */
export async function emit<Name extends EventTypeName>(
  tx: Transaction,
  name: Name,
  subjects: readonly string[],
  make: () => Promise<readonly Emitted<Name>[]>,
): Promise<void> {
  const type = eventTypeNamed(name)
  const listeners = await listenersTo(tx, type, subjects)
  if (listeners.size === 0) return
  const events: EventRow[] = []
  const deliveries: DeliveryRow[] = []
  for (const { subject, event } of await make()) {
    const wanting = (listeners.get(eventTopic(type, subject)) ?? []).filter(({ condition }) =>
      meets(JSON.parse(condition) as Condition, type, event),
    )
    if (wanting.length === 0) continue
    const id = uuidV7()
    events.push({ id, type: type.type, version: type.version, subject, body: JSON.stringify(event) })
    for (const { id: subscription_id, target, lane } of wanting) {
      deliveries.push({ id: uuidV7(), event_id: id, subscription_id, target, lane })
    }
  }
  await insertEvents(tx, events, deliveries)
}

async function listenersTo(
  tx: Transaction,
  type: EventType,
  subjects: readonly string[],
): Promise<Map<string, Listener[]>> {
  const topics = [...new Set(subjects)].map(subject => eventTopic(type, subject))
  if (topics.length === 0) return new Map()
  return Map.groupBy(await tx.lookUp(listenersOf, topics), row => row.topic)
}

const listenersOf: Lookup<Listener> = {
  column: 'topic',
  select: sql`select id, topic, condition, target, lane from event_subscriptions`,
  by: sql`topic`,
  where: sql`ended_at is null and status = 'enabled'`,
}

interface EventRow extends Readonly<Record<string, string>> {
  readonly id: string
  readonly type: string
  readonly version: string
  readonly subject: string
  readonly body: string
}

interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly subscription_id: string
  readonly target: string
  readonly lane: string | null
}

/**
 * Along indexes, also where references are checked: PostgreSQL plans these checks once per connection, maybe while the tables
 * are almost empty.
 */
async function insertEvents(
  tx: Transaction,
  events: readonly EventRow[],
  deliveries: readonly DeliveryRow[],
): Promise<void> {
  if (events.length === 0) return
  const now = isoMillis(Date.now())
  const [, inserted] = await Promise.all([
    tx.get(readAlongIndexes),
    tx.all<{ id: string; seq: number | string }>(
      sql`insert into events (id, type, version, subject, occurred_at, body)
          select id, type, version, subject, cast(${now} as text), body
          from ${valuesTable(events, ['id', 'type', 'version', 'subject', 'body'])} as news where 1 = 1 order by id
          returning id, seq`,
    ),
  ])
  const seqs = new Map(inserted.map(({ id, seq }) => [id, Number(seq)]))
  const rows = deliveries.map(({ event_id, ...row }) => ({
    ...row,
    event_seq: assertDefined(seqs.get(event_id), 'the event of a delivery'),
  }))
  await tx.run(
    sql`insert into event_deliveries
          (id, message, kind, subscription_id, event_seq, target, lane, status, attempts, due_at, created_at)
        select id, id, 'notification', subscription_id, cast(event_seq as bigint), target, lane, 'pending', 0,
          ${storeClock}, cast(${now} as text)
        from ${valuesTable(rows, ['id', 'event_seq', 'subscription_id', 'target', 'lane'])} as news
        where 1 = 1 order by cast(event_seq as bigint)`,
  )
  tx.announce()
}

/** A verification or a revocation: a message about a subscription, without an event. */
export async function sendMessage(
  tx: Transaction,
  kind: 'webhook_callback_verification' | 'revocation',
  subscription: { readonly id: string; readonly target: string },
): Promise<void> {
  const id = uuid()
  await Promise.all([
    tx.get(readAlongIndexes),
    tx.run(
      sql`insert into event_deliveries
            (id, message, kind, subscription_id, target, status, attempts, due_at, created_at)
          values (${id}, ${id}, ${kind}, ${subscription.id}, ${subscription.target}, 'pending', 0, ${storeClock},
            ${isoMillis(Date.now())})`,
    ),
  ])
  tx.announce()
}
