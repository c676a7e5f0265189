import type { Static } from 'typebox'
import { imageUrl } from '../image-urls.ts'
import { orNull, resource, Type } from '../schema.ts'
import { exampleNames, ReturnedUrl, TimeSeconds, userNames } from './id.ts'

const streamId = orNull(
  Type.String(),
  'Null for videos that are older than this field, and for imported ones without a stream.',
)

/** The recording of a stream, as clients see it. */
export const PublicVideo = resource('PublicVideo', 'The recording of a stream, as clients see it.', {
  id: Type.String(),
  stream_id: streamId,
  ...userNames,
  title: Type.String(),
  description: Type.String(),
  created_at: TimeSeconds,
  published_at: TimeSeconds,
  url: ReturnedUrl,
  thumbnail_url: Type.String({
    description:
      'A PNG, or a JPEG of the broadcast; contains the literal text `%{width}x%{height}`, to be replaced by a size of at most 2048x2048.',
  }),
  viewable: Type.Literal('public'),
  view_count: Type.Integer({ minimum: 0 }),
  language: Type.String({ description: 'ISO 639-1 code, or `other`.' }),
  type: Type.Literal('archive'),
  duration: Type.String({ description: 'Such as `3h8m33s`; duration so far while the stream is live.' }),
  muted_segments: Type.Null({ description: 'No part of a video is ever muted.' }),
})
export type PublicVideo = Static<typeof PublicVideo>

/** The recording of a stream, as the control API shows it. */
export const Video = resource('Video', 'The recording of a stream, as the control API shows it.', {
  id: Type.String(),
  ...userNames,
  stream_id: streamId,
  title: Type.String({ description: 'That of the channel while the stream is live.' }),
  description: Type.String(),
  language: Type.String(),
  game_id: Type.String({ description: 'Empty if no game is set.' }),
  view_count: Type.Integer({ minimum: 0 }),
  created_at: TimeSeconds,
  ended_at: orNull(TimeSeconds, 'Null while the stream is live.'),
  duration_seconds: Type.Integer({ minimum: 0, description: 'Duration so far while the stream is live.' }),
  is_live: Type.Boolean(),
  marker_count: Type.Integer({ minimum: 0 }),
})
export type Video = Static<typeof Video>

export const exampleVideo: Video = {
  id: '40952121077',
  ...exampleNames,
  stream_id: '40952121085',
  title: 'First light over the reef',
  description: '',
  language: 'en',
  game_id: '33214',
  view_count: 0,
  created_at: '2026-03-01T12:00:00Z',
  ended_at: '2026-03-01T14:00:00Z',
  duration_seconds: 7200,
  is_live: false,
  marker_count: 3,
}

export const examplePublicVideo: PublicVideo = {
  id: exampleVideo.id,
  stream_id: exampleVideo.stream_id,
  ...exampleNames,
  title: exampleVideo.title,
  description: '',
  created_at: exampleVideo.created_at,
  published_at: exampleVideo.created_at,
  url: `http://localhost:8080/videos/${exampleVideo.id}`,
  thumbnail_url: imageUrl('http://localhost:8080', 'videos', exampleVideo.id),
  viewable: 'public',
  view_count: 0,
  language: 'en',
  type: 'archive',
  duration: '2h0m0s',
  muted_segments: null,
}
