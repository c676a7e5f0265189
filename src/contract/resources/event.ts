import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { exampleClient } from './client.ts'
import { EventSubscription, exampleSubscription } from './event-subscription.ts'
import { ReturnedUuid, TimeMillis } from './id.ts'

/** Events, messages and subscriptions as operators see them. */

export const StoredEvent = resource('StoredEvent', 'An event that a subscription matched.', {
  id: ReturnedUuid,
  type: Type.String(),
  version: Type.String(),
  subject: Type.String({ description: 'The id of the broadcaster, user or organization.' }),
  occurred_at: TimeMillis,
  event: Type.Record(Type.String(), Type.Unknown(), { description: 'As subscribers get it.' }),
})
export type StoredEvent = Static<typeof StoredEvent>

const MESSAGE_KINDS = ['notification', 'webhook_callback_verification', 'revocation'] as const
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const EventDelivery = resource('EventDelivery', 'A message to a subscriber and what became of it.', {
  id: ReturnedUuid,
  message_id: Type.String({
    format: 'uuid',
    description: 'As the receiver sees it. Events that were sent in one request share it.',
  }),
  kind: Type.Enum(MESSAGE_KINDS),
  subscription_id: ReturnedUuid,
  type: Type.String(),
  event_id: orNull(ReturnedUuid, 'Null for a message that is not a notification.'),
  status: Type.Enum(DELIVERY_STATUSES),
  attempts: Type.Integer({ minimum: 0 }),
  created_at: TimeMillis,
  due_at: orNull(TimeMillis, 'When the next attempt is due, or the current one counts as lost.'),
  finished_at: orNull(TimeMillis, 'Null while it is pending.'),
  answer_status: orNull(Type.Integer(), 'The HTTP status of the last attempt.'),
  answer: orNull(Type.String(), 'Why the last attempt failed.'),
  milliseconds: orNull(Type.Integer(), 'The duration of the last attempt.'),
})
export type EventDelivery = Static<typeof EventDelivery>

export const OperatorSubscription = resource(
  'OperatorSubscription',
  'A subscription to a type of event, with the application that made it.',
  {
    ...EventSubscription.properties,
    client_id: Type.String(),
  },
)

export const exampleEvent: StoredEvent = {
  id: '01954b1a-7c30-7000-8000-2f4f6ad0c3a1',
  type: 'stream.offline',
  version: '1',
  subject: '141981764',
  occurred_at: '2026-03-01T12:00:00.250Z',
  event: {
    broadcaster_user_id: '141981764',
    broadcaster_user_login: 'lunar_otter',
    broadcaster_user_name: 'Lunar_Otter',
  },
}

export const exampleDelivery: EventDelivery = {
  id: '0b1f0a52-8a4e-4d5c-9b8f-9a101f0e8f3b',
  message_id: '0b1f0a52-8a4e-4d5c-9b8f-9a101f0e8f3b',
  kind: 'notification',
  subscription_id: exampleSubscription.id,
  type: exampleEvent.type,
  event_id: exampleEvent.id,
  status: 'delivered',
  attempts: 1,
  created_at: exampleEvent.occurred_at,
  due_at: null,
  finished_at: '2026-03-01T12:00:00.291Z',
  answer_status: 204,
  answer: null,
  milliseconds: 38,
}

export const exampleOperatorSubscription = {
  ...exampleSubscription,
  status: 'enabled' as const,
  client_id: exampleClient.id,
}
