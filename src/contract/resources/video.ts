import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { TimeSeconds } from './id.ts'

/** The recording of a stream, as the control API shows it. */
export const Video = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  user_login: Type.String(),
  user_name: Type.String(),
  created_at: TimeSeconds,
  ended_at: Type.Union([TimeSeconds, Type.Null()], { description: 'Null while the stream is live.' }),
  duration_seconds: Type.Integer({ minimum: 0, description: 'Duration so far while the stream is live.' }),
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
