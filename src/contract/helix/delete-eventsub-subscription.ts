import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { exampleSubscription } from '../resources/event-subscription.ts'
import { Type } from '../schema.ts'

/** Decision D-136. */
export const deleteEventSubSubscription = defineOperation('DELETE /helix/eventsub/subscriptions', {
  id: 'DeleteEventSubSubscription',
  summary: 'Delete an event subscription of the application. Nothing more is sent.',
  access: anyToken,
  query: Type.Object({ id: Type.String() }),
  problems: ['not_found'],
  example: { query: { id: exampleSubscription.id } },
})
