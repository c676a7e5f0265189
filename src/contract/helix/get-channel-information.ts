import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { MAX_LOOK_UP, rowsSchema } from '../page.ts'
import { ChannelInformation, exampleChannelInformation } from '../resources/channel.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decisions D-62, D-77. */
export const getChannelInformation = defineOperation('GET /helix/channels', {
  id: 'GetChannelInformation',
  summary: 'Look up channels by the ids of their broadcasters.',
  description: 'Returns channels in the order of the ids, each once. Unknown ids are omitted.',
  access: anyToken,
  query: Type.Object({ broadcaster_id: Type.Array(IdFilter, { maxItems: MAX_LOOK_UP }) }),
  lookUpBy: ['broadcaster_id'],
  returns: rowsSchema(ChannelInformation),
  example: { query: { broadcaster_id: '141981764' }, answer: { data: [exampleChannelInformation] } },
})
