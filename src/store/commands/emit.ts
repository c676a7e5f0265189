import type { EventType } from '../../contract/events/event-type.ts'
import { type EventOf, type EventTypeName, eventTypeNamed } from '../../contract/events/event-types.ts'
import { type Condition, eventTopic, meets } from '../../domain/events/event-subscription.ts'
import { uuid, uuidV7 } from '../../kit/id.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Lookup, RowWrite } from '../combinable.ts'
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
  if (events.length === 0) return
  await tx.write(newEvents, events)
  await tx.write(newDeliveries, deliveries)
  tx.announce()
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

interface DeliveryRow extends Readonly<Record<string, string | null>> {
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
const newEvents: RowWrite<readonly EventRow[]> = lists => [
  readAlongIndexes,
  sql`insert into events (id, type, version, subject, occurred_at, body)
      select id, type, version, subject, cast(${isoMillis(Date.now())} as text), body
      from ${valuesTable(lists.flat(), ['id', 'type', 'version', 'subject', 'body'])} as news where 1 = 1 order by id`,
]

/** In the order of their events, which are numbered by id. By number, all events would be read in that order. */
const newDeliveries: RowWrite<readonly DeliveryRow[]> = lists =>
  sql`insert into event_deliveries
        (id, message, kind, subscription_id, event_seq, target, lane, status, attempts, due_at, created_at)
      select d.id, d.id, 'notification', d.subscription_id, e.seq, d.target, d.lane, 'pending', 0, ${storeClock},
        cast(${isoMillis(Date.now())} as text)
      from ${valuesTable(lists.flat(), ['id', 'event_id', 'subscription_id', 'target', 'lane'])} as d
      join events e on e.id = d.event_id where 1 = 1 order by d.event_id, d.id`

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
