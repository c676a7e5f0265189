import { anyToken } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { IdFilter } from '../resources/id.ts'
import { examplePublicVideo, PublicVideo } from '../resources/video.ts'
import { optional, Type } from '../schema.ts'

/** Decisions D-88 to D-90. */
export const getVideos = defineOperation('GET /helix/videos', {
  id: 'GetVideos',
  summary: 'List videos of a user or of a game, or look videos up by id.',
  description:
    'Exactly one of `id`, `user_id` and `game_id` is required. With `id`, videos come in the order of the request, ' +
    'unknown ids are absent, and the other parameters have no effect. The video of a live stream is listed too. ' +
    'A video whose view count changes while a list sorted by views is paged through may appear twice or not at all; ' +
    'every other video appears exactly once.',
  access: anyToken,
  query: Type.Object({
    ...optional({
      id: Type.Array(IdFilter, { maxItems: 100 }),
      user_id: IdFilter,
      game_id: IdFilter,
      period: Type.Enum(['all', 'day', 'week', 'month'], {
        description: 'Videos of the last 24 hours, 7 or 30 days (default: all).',
      }),
      sort: Type.Enum(['time', 'trending', 'views'], {
        description: 'Newest first (default), or most views first: `trending` is the same as `views`.',
      }),
      type: Type.Enum(['all', 'archive', 'highlight', 'upload'], {
        description: 'All videos are archives: `highlight` and `upload` match nothing.',
      }),
      language: Type.String({ description: 'ISO 639-1 code or `other`; case-insensitive.' }),
    }),
  }),
  exactlyOne: ['id', 'user_id', 'game_id'],
  exactlyOneProblem: 'not_one_video_filter',
  lookUpBy: ['id'],
  page: { default: 20, maximum: 100, before: true },
  returns: pageSchema(PublicVideo),
  problems: ['video_not_found', 'not_found'],
  example: {
    query: { user_id: '141981764', sort: 'time' },
    answer: { data: [examplePublicVideo], pagination: {} },
  },
})
