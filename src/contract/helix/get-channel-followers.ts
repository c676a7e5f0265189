import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { countedPageSchema } from '../page.ts'
import { ChannelFollower, exampleFollower } from '../resources/channel.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decision D-84. */
export const getChannelFollowers = defineOperation('GET /helix/channels/followers', {
  id: 'GetChannelFollowers',
  summary: 'List the followers of a channel, the latest follow first, or only count them.',
  description:
    'The broadcaster and the editors of the channel get rows, with a user token that has the scope `moderator:read:followers`. All other callers get `total` and no rows. With `user_id`, the list has that follower only, or is empty if the user does not follow the channel.',
  access: anyToken,
  query: Type.Object({ broadcaster_id: IdFilter, user_id: Type.Optional(IdFilter) }),
  page: { default: 20, maximum: 100, before: false },
  returns: countedPageSchema(ChannelFollower, 'The number of followers, also with `user_id`.'),
  problems: ['user_token_required', 'scope_missing', 'identity_mismatch'],
  example: {
    query: { broadcaster_id: '141981764' },
    answer: { total: 1, data: [exampleFollower], pagination: {} },
  },
})
