import { controlOperation } from '../operation.ts'
import { listing, singleSchema } from '../page.ts'
import { Title } from '../resources/channel.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleVideo, Video } from '../resources/video.ts'
import { Type } from '../schema.ts'

/** Videos. Streams create them. */
export const listVideos = controlOperation('GET /control/videos', {
  id: 'ListVideos',
  summary: 'List videos, newest first.',
  query: Type.Object({ user_id: Type.Optional(IdFilter) }),
  ...listing(Video),
  example: { query: { user_id: exampleVideo.user_id }, answer: { data: [exampleVideo], pagination: {} } },
})

export const getVideo = controlOperation('GET /control/videos/{video_id}', {
  id: 'GetVideo',
  summary: 'Get a video.',
  returns: singleSchema(Video),
  problems: ['not_found'],
  example: { params: { video_id: exampleVideo.id }, answer: { data: [exampleVideo] } },
})

export const patchVideo = controlOperation('PATCH /control/videos/{video_id}', {
  id: 'PatchVideo',
  summary: 'Update a video; omitted fields keep their value. The title of a live video follows its channel.',
  body: Type.Object({
    title: Type.Optional(Title),
    description: Type.Optional(Type.String({ maxLength: 300 })),
    view_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_000_000_000 })),
  }),
  returns: singleSchema(Video),
  problems: ['not_found', 'in_use'],
  example: {
    params: { video_id: exampleVideo.id },
    body: { title: exampleVideo.title },
    answer: { data: [exampleVideo] },
  },
})

export const deleteVideo = controlOperation('DELETE /control/videos/{video_id}', {
  id: 'DeleteVideo',
  summary: 'Delete a video with its markers; a stream that is still live continues without one.',
  problems: ['not_found'],
  example: { params: { video_id: exampleVideo.id } },
})
