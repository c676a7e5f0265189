import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { rowsSchema } from '../page.ts'
import { ChannelEditor, exampleEditor } from '../resources/channel.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decision D-85. */
export const getChannelEditors = defineOperation('GET /helix/channels/editors', {
  id: 'GetChannelEditors',
  summary: "List all editors of the user's channel, the newest first.",
  access: user('channel:read:editors'),
  query: Type.Object({ broadcaster_id: IdFilter }),
  returns: rowsSchema(ChannelEditor),
  problems: ['identity_mismatch'],
  example: { query: { broadcaster_id: '141981764' }, answer: { data: [exampleEditor] } },
})
