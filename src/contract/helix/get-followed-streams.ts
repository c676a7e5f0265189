import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleStream, Stream } from '../resources/stream.ts'
import { Type } from '../schema.ts'

/** Decision D-35. */
export const getFollowedStreams = defineOperation('GET /helix/streams/followed', {
  id: 'GetFollowedStreams',
  summary: 'List the live streams of the channels that the user follows, most viewers first.',
  access: user('user:read:follows'),
  query: Type.Object({ user_id: IdFilter }),
  page: { default: 100, maximum: 100, before: false },
  returns: pageSchema(Stream),
  problems: ['identity_mismatch'],
  example: {
    query: { user_id: '25009227' },
    answer: { data: [exampleStream], pagination: {} },
  },
})
