import type { Static } from 'typebox'
import { resource, Type } from '../schema.ts'
import { ReturnedUrl, TimeSeconds, userNames } from './id.ts'

/** Decisions D-38 and D-42. */
export const StreamMarker = resource('StreamMarker', 'A marked position in the video of a stream.', {
  id: Type.String({ description: '32 lower-case hex digits.' }),
  created_at: TimeSeconds,
  description: Type.String(),
  position_seconds: Type.Integer({ minimum: 0 }),
})
export type StreamMarker = Static<typeof StreamMarker>

/** A listed marker has the URL of its position twice, because clients read either name (D-42). */
const ListedMarker = resource(
  'ListedMarker',
  'A marker with the URL of its position. `url` and `URL` are the same.',
  { ...StreamMarker.properties, url: ReturnedUrl, URL: ReturnedUrl },
)

const VideoMarkers = resource('VideoMarkers', 'The markers of a video.', {
  video_id: Type.String(),
  markers: Type.Array(ListedMarker),
})

/** Decision D-42. */
export const MarkerListing = resource('MarkerListing', 'Markers of a user by video.', {
  ...userNames,
  videos: Type.Array(VideoMarkers),
})

export const exampleMarker: StreamMarker = {
  id: '9f3d1c2b4a5e6f708192a3b4c5d6e7f8',
  created_at: '2026-03-01T12:04:04Z',
  description: 'the jump',
  position_seconds: 244,
}
