import { controlOperation } from '../operation.ts'
import { exampleMarkerFile, MarkerFileQuery, markerMediaTypes } from '../resources/marker-file.ts'
import { exampleVideo } from '../resources/video.ts'

/** Markers. Broadcasters and editors create them. */
export const exportVideoMarkers = controlOperation('GET /control/videos/{video_id}/markers/export', {
  id: 'ExportVideoMarkers',
  summary: 'Export all markers of a video as a file for an editor, a player or a video site.',
  description: 'The same files as those of ExportStreamMarkers. See docs/markers.md.',
  query: MarkerFileQuery,
  answerFile: markerMediaTypes,
  problems: ['not_found', 'too_many_markers'],
  example: { params: { video_id: exampleVideo.id }, query: { format: 'csv' }, answer: exampleMarkerFile },
})
