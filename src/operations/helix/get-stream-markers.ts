import { getStreamMarkers } from '../../contract/helix/get-stream-markers.ts'
import { raise } from '../../contract/problem.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import { videoMoment } from '../../domain/timeline.ts'
import { must } from '../../kit/must.ts'
import { markerSortKey, type Video } from '../../store/queries/videos.ts'
import { implement } from '../implement.ts'
import { videoUrl } from '../render-video.ts'
import { requireOwnerOrEditor } from '../require-owner-or-editor.ts'

export const handleGetStreamMarkers = implement(
  getStreamMarkers,
  async ({ query, caller, window, paginate }, { store, publicUrl }) => {
    // All pages of a walk are of the same video, even if a newer one has become the latest.
    const startedOn = window.memory?.[0]
    const video_id = startedOn === undefined ? query.video_id : String(startedOn)
    const video =
      video_id === undefined
        ? ((await store.videos.latestOf(must(query.user_id, 'user_id or video_id'))) ?? raise('no_videos'))
        : ((await store.videos.find(video_id)) ?? raise('video_not_found', video_id))
    await requireOwnerOrEditor(store, caller, video.user_id)

    const page = await store.markers.ofVideo(video.id, window)
    return {
      data: [listing(video, page.rows, publicUrl)],
      pagination: paginate(page, markerSortKey, [video.id]),
    }
  },
)

function listing(video: Video, markers: readonly StreamMarker[], publicUrl: string) {
  const withUrl = (marker: StreamMarker) => {
    const url = `${videoUrl(publicUrl, video.id)}?t=${videoMoment(marker.position_seconds)}`
    const { id, created_at, description, position_seconds } = marker
    return { id, created_at, description, position_seconds, url, URL: url }
  }
  const { user_id, user_login, user_name } = video
  return { user_id, user_login, user_name, videos: [{ video_id: video.id, markers: markers.map(withUrl) }] }
}
