import type { Static } from 'typebox'
import { orNull, resource, Type } from '../schema.ts'
import { exampleNames, TimeMillis, TimeSeconds, userNames } from './id.ts'

export const MAX_VIEWERS = 2_000_000_000
/** Of one report. */
export const MAX_REPORTED_CHANNELS = 10_000

/** No field is ever null (D-32). */
export const Stream = resource('Stream', 'A live stream.', {
  id: Type.String(),
  ...userNames,
  game_id: Type.String({ description: 'Empty if no game is set.' }),
  game_name: Type.String(),
  type: Type.Literal('live'),
  title: Type.String(),
  viewer_count: Type.Integer({ minimum: 0 }),
  started_at: TimeSeconds,
  language: Type.String({ description: 'ISO 639-1 code.' }),
  thumbnail_url: Type.String({
    format: 'uri-template',
    description:
      'A PNG, or a JPEG of the broadcast; contains the literal text `{width}x{height}`, to be replaced by a size of at most 2048x2048.',
  }),
  tag_ids: Type.Array(Type.String(), {
    description: 'Always empty: replaced by `tags`, but one client library still reads it.',
  }),
  tags: Type.Array(Type.String()),
  is_mature: Type.Boolean(),
})
export type Stream = Static<typeof Stream>

/** Decision D-36. */
export const StreamKey = resource('StreamKey', 'The key with which an encoder publishes to a channel.', {
  stream_key: Type.String(),
})

export const ExtraKeyName = Type.String({
  pattern: '^[a-z0-9-]{1,40}$',
  hint: '1 to 40 lower-case letters, digits or hyphens',
})

/** An extra key of a channel, without the key. */
export const ExtraStreamKey = resource(
  'ExtraStreamKey',
  'An extra stream key of a channel, without the key.',
  {
    name: Type.String(),
    created_at: TimeMillis,
    valid_until: orNull(TimeMillis),
  },
)
export type ExtraStreamKey = Static<typeof ExtraStreamKey>

export const exampleExtraKey: ExtraStreamKey = {
  name: 'guest',
  created_at: '2026-03-01T12:00:00.250Z',
  valid_until: '2026-03-08T12:00:00.000Z',
}

export const exampleStream: Stream = {
  id: '40952121085',
  ...exampleNames,
  game_id: '33214',
  game_name: 'Tidefall',
  type: 'live',
  title: 'First light over the reef',
  viewer_count: 478,
  started_at: '2026-03-01T12:00:00Z',
  language: 'en',
  thumbnail_url: 'http://localhost:8080/images/channels/141981764-{width}x{height}.png',
  tag_ids: [],
  tags: ['Relaxed'],
  is_mature: false,
}
