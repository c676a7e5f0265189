import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { exampleMarker, StreamMarker } from '../resources/marker.ts'
import { Type } from '../schema.ts'

/** Decisions D-37 to D-39. */
export const createStreamMarker = defineOperation('POST /helix/streams/markers', {
  id: 'CreateStreamMarker',
  summary: 'Create a marker at the current position of a live stream.',
  description:
    'Allowed for the broadcaster and the editors of the channel. A retry with the same Idempotency-Key returns the first marker.',
  access: user('channel:manage:broadcast'),
  body: Type.Object({
    user_id: Type.String({
      description: 'The broadcaster. A JSON number is accepted too.',
      numberIsText: true,
    }),
    description: Type.Optional(Type.String({ maxLength: 140, nullIsAbsent: true })),
  }),
  bodyFrom: 'anywhere',
  idempotent: true,
  returns: singleSchema(StreamMarker),
  problems: ['user_not_found', 'not_live', 'vods_off', 'marker_forbidden'],
  example: {
    body: { user_id: '141981764', description: 'the jump' },
    answer: { data: [exampleMarker] },
  },
})
