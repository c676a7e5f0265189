import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import {
  EventSubscription,
  exampleSubscription,
  SubscriptionStatus,
  SubscriptionTotals,
} from '../resources/event-subscription.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decision D-135. */
export const getEventSubSubscriptions = defineOperation('GET /helix/eventsub/subscriptions', {
  id: 'GetEventSubSubscriptions',
  summary: 'List the event subscriptions of the application, the oldest first.',
  description:
    'With an app token: those by webhook. With a user token: those by WebSocket that were made with tokens of this user. At most one filter.',
  access: anyToken,
  query: Type.Object({
    status: Type.Optional(SubscriptionStatus),
    type: Type.Optional(Type.String()),
    user_id: Type.Optional(
      Type.String({ ...IdFilter, description: 'Subscriptions whose condition names this user.' }),
    ),
    subscription_id: Type.Optional(Type.String()),
  }),
  page: { default: 100, maximum: 100, before: false },
  returns: Type.Object({ ...pageSchema(EventSubscription).properties, ...SubscriptionTotals }),
  problems: ['several_filters'],
  example: {
    query: { type: 'stream.online' },
    answer: {
      data: [{ ...exampleSubscription, status: 'enabled' }],
      pagination: {},
      total: 1,
      total_cost: 1,
      max_total_cost: 10_000,
    },
  },
})
