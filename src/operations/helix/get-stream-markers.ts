import { getStreamMarkers } from '../../contract/helix/get-stream-markers.ts'
import type { QueryOf } from '../../contract/operation.ts'
import type { PageRequest } from '../../contract/page.ts'
import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import { videoMoment } from '../../domain/timeline.ts'
import { assertDefined } from '../../kit/assert-defined.ts'
import { markerSortKey, type OwnedVideo } from '../../store/queries/videos.ts'
import type { Store } from '../../store/store.ts'
import { implement, rawJsonPage } from '../implement.ts'
import { refuseStrangers } from '../refuse-strangers.ts'
import { videoUrl } from '../render-video.ts'

export const handleGetStreamMarkers = implement(
  getStreamMarkers,
  async ({ query, caller, window, paginate }, { store, publicUrl }) => {
    const video = await findVideo(store, query, window)
    if (isRefusal(video)) return video
    const refused = await refuseStrangers(store, caller, video.user_id)
    if (refused !== undefined) return refused
    const page = await store.markers.ofVideo(video.id, window)
    return rawJsonPage(
      [{ json: JSON.stringify(listing(video, page.rows, publicUrl)) }],
      paginate(page, markerSortKey, [video.id]),
    )
  },
)

/** All pages of a walk are of the same video, even if a newer one has become the latest. */
async function findVideo(
  { videos }: Pick<Store, 'videos'>,
  query: QueryOf<typeof getStreamMarkers>,
  { cursorState }: PageRequest,
): Promise<OwnedVideo | Refusal<'no_videos' | 'video_not_found'>> {
  const id = cursorState === undefined ? query.video_id : String(cursorState[0])
  return id === undefined
    ? ((await videos.latestOf(assertDefined(query.user_id, 'user_id or video_id'))) ?? refuse('no_videos'))
    : ((await videos.owned(id)) ?? refuse('video_not_found', id))
}

function listing(video: OwnedVideo, markers: readonly StreamMarker[], publicUrl: string) {
  const urlStart = `${videoUrl(publicUrl, video.id)}?t=`
  const withUrl = ({ id, created_at, description, position_seconds }: StreamMarker) => {
    const url = urlStart + videoMoment(position_seconds)
    return { id, created_at, description, position_seconds, url, URL: url }
  }
  const { user_id, user_login, user_name } = video
  return { user_id, user_login, user_name, videos: [{ video_id: video.id, markers: markers.map(withUrl) }] }
}
