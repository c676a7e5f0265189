import type { TObject } from 'typebox'
import { EventSubscription, exampleSubscription } from '../resources/event-subscription.ts'
import { Type } from '../schema.ts'
import type { EventType } from './event-type.ts'

/** The body of a notification by webhook; `payload` of one by WebSocket is the same. */
export function notificationSchema({ event, isBatched }: EventType): TObject {
  return isBatched
    ? Type.Object({
        subscription: EventSubscription,
        events: Type.Array(Type.Object({ id: Type.String(), data: event })),
      })
    : Type.Object({ subscription: EventSubscription, event })
}

/** The fields of a condition that the example of a type meets. */
export function exampleCondition(
  { condition, subject }: EventType,
  example: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.keys(condition.properties).flatMap(name => {
      const value = example[name] ?? example[subject]
      return value === '' || value === undefined ? [] : [[name, String(value)]]
    }),
  )
}

export function exampleNotification(each: EventType): Readonly<Record<string, unknown>> {
  const { type, version, transports, isBatched, example } = each
  const [method] = transports
  const subscription = {
    ...exampleSubscription,
    status: 'enabled',
    type,
    version,
    condition: exampleCondition(each, example),
    transport: { ...exampleSubscription.transport, method },
  }
  return isBatched
    ? { subscription, events: [{ id: EXAMPLE_ID, data: example }] }
    : { subscription, event: example }
}

const EXAMPLE_ID = '01954b1a-7c30-7000-8000-2f4f6ad0c3a1'
