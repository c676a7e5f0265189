import type { Static } from 'typebox'
import { Type } from '../schema.ts'
import { TimeSeconds } from './id.ts'

/** Spec 2.5. */
export const StreamMarker = Type.Object({
  id: Type.String({ description: '32 lower-case hex digits.' }),
  created_at: TimeSeconds,
  description: Type.String(),
  position_seconds: Type.Integer({ minimum: 0 }),
})
export type StreamMarker = Static<typeof StreamMarker>

/** A listed marker has the URL of its position twice, because clients read either name (D-42). */
const ListedMarker = Type.Object({ ...StreamMarker.properties, url: Type.String(), URL: Type.String() })

/** Spec 2.6. */
export const MarkerListing = Type.Object({
  user_id: Type.String(),
  user_login: Type.String(),
  user_name: Type.String(),
  videos: Type.Array(Type.Object({ video_id: Type.String(), markers: Type.Array(ListedMarker) })),
})

export const exampleMarker: StreamMarker = {
  id: '9f3d1c2b4a5e6f708192a3b4c5d6e7f8',
  created_at: '2026-03-01T12:04:04Z',
  description: 'the jump',
  position_seconds: 244,
}
