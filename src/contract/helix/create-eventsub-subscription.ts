import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import {
  EventSubscription,
  exampleSubscription,
  SubscriptionTotals,
} from '../resources/event-subscription.ts'
import { optional, Type } from '../schema.ts'

/** Decisions D-130 to D-134. */
export const createEventSubSubscription = defineOperation('POST /helix/eventsub/subscriptions', {
  id: 'CreateEventSubSubscription',
  summary: 'Subscribe to a type of event, by webhook or WebSocket.',
  description:
    'A webhook needs an app token and starts with a verification request; a WebSocket needs a user token. Event types are listed under Events.',
  access: anyToken,
  body: Type.Object({
    type: Type.String(),
    version: Type.String({ numberIsText: true }),
    condition: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the events are about; the fields depend on the type.',
    }),
    transport: Type.Object({
      method: Type.String({ description: '`webhook` or `websocket`.' }),
      ...optional({
        callback: Type.String({
          maxLength: 2048,
          description: 'Of a webhook: an https URL with port 443.',
          nullIsAbsent: true,
        }),
        secret: Type.String({ description: 'Of a webhook: 10 to 100 ASCII characters.', nullIsAbsent: true }),
        session_id: Type.String({
          description: 'Of a WebSocket: from its welcome message.',
          nullIsAbsent: true,
        }),
      }),
    }),
    is_batching_enabled: Type.Optional(
      Type.Boolean({ description: 'Has to be true for `drop.entitlement.grant`.', nullIsAbsent: true }),
    ),
  }),
  returns: Type.Object({
    data: Type.Array(EventSubscription, { minItems: 1, maxItems: 1 }),
    ...SubscriptionTotals,
  }),
  status: 202,
  problems: [
    'wrong_token_kind',
    'subscription_forbidden',
    'subscription_exists',
    'subscription_cost_exceeded',
    'too_many_subscriptions',
  ],
  example: {
    body: {
      type: 'stream.online',
      version: '1',
      condition: exampleSubscription.condition,
      transport: {
        method: 'webhook',
        callback: 'https://example.com/events',
        secret: '<10 to 100 characters>',
      },
    },
    answer: { data: [exampleSubscription], total: 1, total_cost: 1, max_total_cost: 10_000 },
  },
})
