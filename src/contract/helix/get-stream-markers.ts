import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { pageSchema } from '../page.ts'
import { exampleNames, IdFilter } from '../resources/id.ts'
import { exampleMarker, MarkerListing } from '../resources/marker.ts'
import { Type } from '../schema.ts'

const url = 'http://localhost:8080/videos/1234567890?t=0h4m4s'

/** Decisions D-40 to D-42. */
export const getStreamMarkers = defineOperation('GET /helix/streams/markers', {
  id: 'GetStreamMarkers',
  summary: "List the markers of a user's latest video, or of one video.",
  access: user('user:read:broadcast', 'channel:manage:broadcast'),
  query: Type.Object({ user_id: Type.Optional(IdFilter), video_id: Type.Optional(IdFilter) }),
  exactlyOne: ['user_id', 'video_id'],
  page: { default: 20, maximum: 100, before: true },
  returns: pageSchema(MarkerListing),
  problems: ['no_videos', 'video_not_found', 'channel_forbidden'],
  example: {
    query: { user_id: '141981764' },
    answer: {
      data: [
        {
          ...exampleNames,
          videos: [{ video_id: '1234567890', markers: [{ ...exampleMarker, url, URL: url }] }],
        },
      ],
      pagination: {},
    },
  },
})
