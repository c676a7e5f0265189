import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { TimeSeconds } from './id.ts'

/** What is kept of a stream, as an operator sees it. */
export const Video = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  user_login: Type.String(),
  user_name: Type.String(),
  created_at: TimeSeconds,
  ended_at: Type.Union([TimeSeconds, Type.Null()], { description: 'Null while the stream runs.' }),
  duration_seconds: Type.Integer({ minimum: 0, description: 'So far, while the stream runs.' }),
  is_live: Type.Boolean(),
  marker_count: Type.Integer({ minimum: 0 }),
})
export type Video = Static<typeof Video>

export const exampleVideo: Video = {
  id: '40952121077',
  user_id: '141981764',
  user_login: 'lunar_otter',
  user_name: 'Lunar_Otter',
  created_at: '2026-03-01T12:00:00Z',
  ended_at: '2026-03-01T14:00:00Z',
  duration_seconds: 7200,
  is_live: false,
  marker_count: 3,
}
