import { getStreamMarkers } from '../../contract/helix/get-stream-markers.ts'
import type { QueryOf } from '../../contract/operation.ts'
import type { Window } from '../../contract/page.ts'
import { raise } from '../../contract/problem.ts'
import type { StreamMarker } from '../../contract/resources/marker.ts'
import { videoMoment } from '../../domain/timeline.ts'
import { chain, type MaybePromise } from '../../kit/maybe-promise.ts'
import { must } from '../../kit/must.ts'
import { markerSortKey, type OwnedVideo } from '../../store/queries/videos.ts'
import type { Store } from '../../store/store.ts'
import { implement, preparedPage } from '../implement.ts'
import { videoUrl } from '../render-video.ts'
import { requireOwnerOrEditor } from '../require-owner-or-editor.ts'

export const handleGetStreamMarkers = implement(
  getStreamMarkers,
  ({ query, caller, window, paginate }, { store, publicUrl }) =>
    chain(requireVideo(store, query, window), video =>
      chain(requireOwnerOrEditor(store, caller, video.user_id), () =>
        chain(store.markers.ofVideo(video.id, window), page =>
          preparedPage(
            [{ json: JSON.stringify(listing(video, page.rows, publicUrl)) }],
            paginate(page, markerSortKey, [video.id]),
          ),
        ),
      ),
    ),
)

/** All pages of a walk are of the same video, even if a newer one has become the latest. */
function requireVideo(
  { videos }: Pick<Store, 'videos'>,
  query: QueryOf<typeof getStreamMarkers>,
  { memory }: Window,
): MaybePromise<OwnedVideo> {
  const id = memory === undefined ? query.video_id : String(memory[0])
  return id === undefined
    ? chain(videos.latestOf(must(query.user_id, 'user_id or video_id')), found => found ?? raise('no_videos'))
    : chain(videos.owned(id), found => found ?? raise('video_not_found', id))
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
