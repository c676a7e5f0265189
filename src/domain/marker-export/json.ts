import { FRAME_RATES, frameAt, timecode } from './frame-rate.ts'
import { type MarkerExport, markerUrl } from './marked-video.ts'

/** The video and its markers, with the same names as in the API. */
export function writeJson({ video, markers, fps }: MarkerExport): string {
  const rate = FRAME_RATES[fps]
  const { id, user_id, user_login, user_name, title, created_at, duration_seconds, is_live, url } = video
  const rows = markers.map(marker => {
    const frame = frameAt(marker.position_seconds, rate)
    const { id, created_at, description, position_seconds } = marker
    const url = markerUrl(video, marker)
    return { id, created_at, description, position_seconds, frame, timecode: timecode(frame, rate), url }
  })
  const file = {
    video: { id, user_id, user_login, user_name, title, created_at, duration_seconds, is_live, url },
    fps,
    markers: rows,
  }
  return `${JSON.stringify(file, null, 2)}\n`
}
