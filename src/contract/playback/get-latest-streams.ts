import { open } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { rowsSchema } from '../page.ts'
import { exampleStream, Stream } from '../resources/stream.ts'
import { Type } from '../schema.ts'

export const MAX_LATEST = 20

/** Decision D-151. */
export const getLatestStreams = defineOperation('GET /playback/latest', {
  id: 'GetLatestStreams',
  summary: 'List live streams, the latest start first.',
  description: 'For pages that show who has just gone live. GetStreams lists all streams.',
  access: open,
  query: Type.Object({
    first: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_LATEST, description: `How many (default: ${MAX_LATEST}).` }),
    ),
  }),
  returns: rowsSchema(Stream),
  example: { query: { first: 1 }, answer: { data: [exampleStream] } },
})
