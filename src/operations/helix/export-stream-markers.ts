import { exportStreamMarkers } from '../../contract/helix/export-stream-markers.ts'
import { refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { createMarkerFile } from '../marker-file.ts'
import { refuseStrangers } from '../refuse-strangers.ts'

export const handleExportStreamMarkers = implement(
  exportStreamMarkers,
  async ({ query, caller }, services) => {
    const { store } = services
    const video = await store.videos.find(query.video_id)
    if (video === undefined) return refuse('video_not_found', query.video_id)
    const refused = await refuseStrangers(store, caller, video.user_id)
    return refused ?? createMarkerFile(video, query, services)
  },
)
