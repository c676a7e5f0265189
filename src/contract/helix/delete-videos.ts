import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { rowsSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleVideo } from '../resources/video.ts'
import { Type } from '../schema.ts'

/** Decision D-91. */
export const deleteVideos = defineOperation('DELETE /helix/videos', {
  id: 'DeleteVideos',
  summary: 'Delete up to five videos with their markers and return their ids.',
  description:
    'Only the owner may delete a video. If one of the videos belongs to another user, nothing is deleted. Unknown ids are ' +
    'ignored. A stream that is still live continues without a video.',
  access: user('channel:manage:videos'),
  query: Type.Object({ id: Type.Array(IdFilter, { minItems: 1, maxItems: 5 }) }),
  returns: rowsSchema(Type.String()),
  problems: ['not_video_owner'],
  example: { query: { id: [exampleVideo.id] }, answer: { data: [exampleVideo.id] } },
})
