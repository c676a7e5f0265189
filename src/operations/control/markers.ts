import { exportVideoMarkers } from '../../contract/control/markers.ts'
import { refuse } from '../../contract/problem.ts'
import { implement } from '../implement.ts'
import { createMarkerFile } from '../marker-file.ts'

export const handleExportVideoMarkers = implement(exportVideoMarkers, async ({ params, query }, services) => {
  const video = await services.store.videos.inFull(params.video_id)
  return video === undefined
    ? refuse('not_found', 'video', params.video_id)
    : createMarkerFile(video, query, services)
})
