import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import {
  DELIVERY_STATUSES,
  EventDelivery,
  exampleDelivery,
  exampleEvent,
  exampleOperatorSubscription,
  OperatorSubscription,
  StoredEvent,
} from '../resources/event.ts'
import { SubscriptionStatus } from '../resources/event-subscription.ts'
import { GivenTime } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Events that a subscription matched, the messages about them, and subscriptions (D-137). */
export const listEvents = controlOperation('GET /control/events', {
  id: 'ListEvents',
  summary: 'List events that a subscription matched, newest first.',
  query: Type.Object({
    type: Type.Optional(Type.String({ description: 'Type of event.' })),
    subject: Type.Optional(Type.String({ description: 'The id of a broadcaster, user or organization.' })),
  }),
  ...listing(StoredEvent),
  example: { query: { type: exampleEvent.type }, answer: { data: [exampleEvent], pagination: {} } },
})

export const listDeliveries = controlOperation('GET /control/deliveries', {
  id: 'ListDeliveries',
  summary: 'List messages to subscribers and what became of them, newest first.',
  query: Type.Object({
    subscription_id: Type.Optional(Type.String()),
    event_id: Type.Optional(Type.String()),
    status: Type.Optional(Type.Enum(DELIVERY_STATUSES, { description: 'What became of the message.' })),
  }),
  ...listing(EventDelivery),
  example: { query: { status: 'delivered' }, answer: { data: [exampleDelivery], pagination: {} } },
})

export const resendDelivery = controlOperation('POST /control/deliveries/{id}/resend', {
  id: 'ResendDelivery',
  summary: 'Send a message again, with the same id, whatever became of it.',
  returns: singleSchema(EventDelivery),
  problems: ['not_found', 'subscription_ended'],
  example: {
    params: { id: exampleDelivery.id },
    answer: { data: [{ ...exampleDelivery, status: 'pending', attempts: 0, finished_at: null }] },
  },
})

export const replayEvents = controlOperation('POST /control/events/replay', {
  id: 'ReplayEvents',
  summary: 'Send all notifications since a time again, with the same ids.',
  description: 'To subscriptions that are enabled. Receivers recognize messages that they have by their id.',
  body: Type.Object({
    since: GivenTime,
    subscription_id: Type.Optional(Type.String({ description: 'Default: all subscriptions.' })),
  }),
  returns: singleSchema(
    Type.Object({ messages: Type.Integer({ minimum: 0, description: 'How many are sent again.' }) }),
  ),
  problems: ['not_found', 'refused_reference'],
  example: { body: { since: '2026-03-01T12:00:00Z' }, answer: { data: [{ messages: 12 }] } },
})

export const listEventSubscriptions = controlOperation('GET /control/event-subscriptions', {
  id: 'ListEventSubscriptions',
  summary: 'List event subscriptions of all applications, the oldest first.',
  query: Type.Object({
    client_id: Type.Optional(Type.String()),
    type: Type.Optional(Type.String({ description: 'Type of event.' })),
    status: Type.Optional(SubscriptionStatus),
  }),
  ...listing(OperatorSubscription),
  example: { answer: { data: [exampleOperatorSubscription], pagination: {} } },
})

export const deleteEventSubscription = controlOperation('DELETE /control/event-subscriptions/{id}', {
  id: 'DeleteEventSubscription',
  summary: 'Delete an event subscription of any application. Nothing more is sent.',
  problems: ['not_found'],
  example: { params: { id: exampleOperatorSubscription.id } },
})
