import { anyone } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleStream, Stream } from '../resources/stream.ts'
import { Type } from '../schema.ts'

const upTo100 = { maxItems: 100 }

/** Decisions D-29 to D-34. */
export const getStreams = defineOperation('GET /helix/streams', {
  id: 'GetStreams',
  summary: 'List live streams, most viewers first.',
  description:
    'Filters combine as (`user_id` or `user_login`) and `game_id` and `language`. Paging through the list returns every stream that stays live exactly once.',
  access: anyone,
  query: Type.Object({
    user_id: Type.Optional(Type.Array(IdFilter, upTo100)),
    user_login: Type.Optional(Type.Array(Type.String({ description: 'Case-insensitive.' }), upTo100)),
    game_id: Type.Optional(Type.Array(IdFilter, upTo100)),
    type: Type.Optional(Type.Enum(['all', 'live'], { description: 'Both list live streams.' })),
    language: Type.Optional(Type.Array(Type.String({ description: 'ISO 639-1 code.' }), upTo100)),
  }),
  page: { default: 20, maximum: 100, wholeBatchOf: ['user_id', 'user_login'], before: true },
  returns: pageSchema(Stream),
  cacheSeconds: 1,
  example: {
    query: { user_login: ['lunar_otter'] },
    answer: { data: [exampleStream], pagination: {} },
  },
})
