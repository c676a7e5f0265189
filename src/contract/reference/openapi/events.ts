import type { EventType } from '../../events/event-type.ts'
import { exampleNotification, notificationSchema } from '../../events/notification.ts'
import type { Json, Schemas } from './schemas.ts'

/** A notification, as the server sends it to a callback. */
export function describeEvent(each: EventType, schemas: Schemas): Json {
  return {
    operationId: each.type,
    tags: ['events'],
    summary: each.summary,
    description: `Version ${each.version}.`,
    security: [],
    parameters: MESSAGE_HEADERS.map(([name, description, schema]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string', ...schema },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: schemas.use(notificationSchema(each)),
          example: exampleNotification(each),
        },
      },
    },
    responses: { '2XX': { description: 'Received. Anything else is sent again.' } },
  }
}

const MESSAGE_HEADERS: readonly (readonly [name: string, description: string, schema?: Json])[] = [
  ['Twitch-Eventsub-Message-Id', 'The same when a message is sent again.', { format: 'uuid' }],
  ['Twitch-Eventsub-Message-Retry', 'How many attempts there were before.', { pattern: '^[0-9]+$' }],
  ['Twitch-Eventsub-Message-Type', '`notification`.', { const: 'notification' }],
  ['Twitch-Eventsub-Message-Timestamp', 'When this attempt was made.', { format: 'date-time' }],
  [
    'Twitch-Eventsub-Message-Signature',
    '`sha256=` and the HMAC-SHA256, in hexadecimal digits, of id, timestamp and body with the secret of the subscription.',
    { pattern: '^sha256=[0-9a-f]{64}$' },
  ],
  ['Twitch-Eventsub-Subscription-Type', 'The type of event.'],
  ['Twitch-Eventsub-Subscription-Version', 'The version of the type.'],
]
