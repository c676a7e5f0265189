import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { ReturnedUuid, TimeMillis } from './id.ts'

/** Subscriptions to events, as the application that made them sees them. */

export const SUBSCRIPTION_STATUSES = [
  'enabled',
  'webhook_callback_verification_pending',
  'webhook_callback_verification_failed',
  'notification_failures_exceeded',
  'authorization_revoked',
  'user_removed',
  'version_removed',
  'websocket_disconnected',
  'websocket_failed_ping_pong',
  'websocket_received_inbound_traffic',
  'websocket_connection_unused',
  'websocket_internal_error',
  'websocket_network_timeout',
  'websocket_network_error',
] as const
export const SubscriptionStatus = Type.Enum(SUBSCRIPTION_STATUSES, {
  title: 'SubscriptionStatus',
  description: 'Whether messages are sent, and if not, why.',
})
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

export const TRANSPORT_METHODS = ['webhook', 'websocket'] as const
export type TransportMethod = (typeof TRANSPORT_METHODS)[number]

/** The secret of a webhook is never returned. */
const EventTransport = resource('EventTransport', 'How the messages of a subscription are sent.', {
  method: Type.Enum(TRANSPORT_METHODS),
  callback: Type.Optional(Type.String({ description: 'Of a webhook.' })),
  session_id: Type.Optional(Type.String({ description: 'Of a WebSocket.' })),
  connected_at: Type.Optional(Type.String({ ...TimeMillis, description: 'When the WebSocket was opened.' })),
})

export const EventSubscription = resource('EventSubscription', 'A subscription to a type of event.', {
  id: ReturnedUuid,
  status: SubscriptionStatus,
  type: Type.String(),
  version: Type.String(),
  condition: Type.Record(Type.String(), Type.String()),
  created_at: TimeMillis,
  transport: EventTransport,
  cost: Type.Integer({ minimum: 0 }),
})
export type EventSubscription = Static<typeof EventSubscription>

const costs = {
  total_cost: Type.Integer({
    minimum: 0,
    description: 'The sum of the costs of subscriptions that are enabled or pending.',
  }),
  max_total_cost: Type.Integer({ minimum: 0 }),
}

/** What the operations on subscriptions answer with, beside the rows. */
export const SubscriptionTotals = {
  total: Type.Integer({ minimum: 0, description: 'The number of subscriptions, whatever the filter.' }),
  ...costs,
}

export const exampleSubscription: EventSubscription = {
  id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
  status: 'webhook_callback_verification_pending',
  type: 'stream.online',
  version: '1',
  condition: { broadcaster_user_id: '141981764' },
  created_at: '2026-03-01T12:00:00.250Z',
  transport: { method: 'webhook', callback: 'https://example.com/events' },
  cost: 1,
}
