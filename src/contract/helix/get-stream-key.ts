import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { singleSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { StreamKey } from '../resources/stream.ts'
import { Type } from '../schema.ts'

/** Decision D-36. */
export const getStreamKey = defineOperation('GET /helix/streams/key', {
  id: 'GetStreamKey',
  summary: "Get the broadcaster's stream key.",
  access: user('channel:read:stream_key'),
  query: Type.Object({ broadcaster_id: IdFilter }),
  returns: singleSchema(StreamKey),
  problems: ['identity_mismatch'],
  example: {
    query: { broadcaster_id: '141981764' },
    answer: { data: [{ stream_key: '<STREAM_KEY>' }] },
  },
})
