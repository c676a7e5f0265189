import { exportStreamMarkers } from '../../contract/helix/export-stream-markers.ts'
import { raise } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { createMarkerFile } from '../marker-file.ts'
import { requireOwnerOrEditor } from '../require-owner-or-editor.ts'

export const handleExportStreamMarkers = implement(
  exportStreamMarkers,
  async ({ query, caller }, services) => {
    const { store } = services
    const video = (await store.videos.find(query.video_id)) ?? raise('video_not_found', query.video_id)
    await requireOwnerOrEditor(store, caller, video.user_id)
    return createMarkerFile(video, query, services)
  },
)
