import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { countedPageSchema } from '../page.ts'
import { exampleFollowedChannel, FollowedChannel } from '../resources/channel.ts'
import { IdFilter } from '../resources/id.ts'
import { Type } from '../schema.ts'

/** Decision D-83. */
export const getFollowedChannels = defineOperation('GET /helix/channels/followed', {
  id: 'GetFollowedChannels',
  summary: 'List the channels that the user follows, the latest follow first.',
  description:
    'With `broadcaster_id`, the list has that channel only, or is empty if the user does not follow it.',
  access: user('user:read:follows'),
  query: Type.Object({ user_id: IdFilter, broadcaster_id: Type.Optional(IdFilter) }),
  page: { default: 20, maximum: 100, before: false },
  returns: countedPageSchema(
    FollowedChannel,
    'The number of channels that the user follows, also with `broadcaster_id`.',
  ),
  problems: ['identity_mismatch'],
  example: {
    query: { user_id: '25009227' },
    answer: { total: 1, data: [exampleFollowedChannel], pagination: {} },
  },
})
