import { anyone } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { TimeMillis } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decisions D-121, D-210. */
export const createPlaybackSession = defineOperation('POST /playback/session', {
  id: 'CreatePlaybackSession',
  summary: 'Start a playback session, whose heartbeats count a viewer.',
  description:
    'For players of live streams and videos. Give either `login`, for a live stream, or `video_id`. Sessions of videos are accepted and not counted. With a user token the session names its viewer, who earns drops.',
  access: anyone,
  body: Type.Object({
    login: Type.Optional(Type.String({ minLength: 1, maxLength: 25 })),
    video_id: Type.Optional(Type.String({ minLength: 1, maxLength: 19, numberIsText: true })),
  }),
  returns: singleSchema(
    Type.Object({
      session: Type.String({ description: 'Opaque. Send it with each heartbeat.' }),
      expires_at: TimeMillis,
      heartbeat_seconds: Type.Integer({ description: 'How often to send a heartbeat.' }),
      earns_drops: Type.Boolean({
        description:
          'Whether the viewer earns drops: with a user token of the site, or of a client with `counts_watching`, on a live stream.',
      }),
    }),
  ),
  problems: ['not_exactly_one', 'name_not_found', 'video_not_found'],
  example: {
    body: { login: 'lunar_otter' },
    answer: {
      data: [
        {
          session: '<PLAYBACK_SESSION>',
          expires_at: '2026-03-02T00:00:00.250Z',
          heartbeat_seconds: 30,
          earns_drops: false,
        },
      ],
    },
  },
})
