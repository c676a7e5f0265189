import { user } from '../access.ts'
import { defineOperation } from '../operation.ts'
import { IdFilter } from '../resources/id.ts'
import { exampleMarkerFile, MarkerFileQuery, markerMediaTypes } from '../resources/marker-file.ts'
import { Type } from '../schema.ts'

/** Decisions D-110 to D-114. */
export const exportStreamMarkers = defineOperation('GET /helix/streams/markers/export', {
  id: 'ExportStreamMarkers',
  summary: 'Export all markers of a video as a file for an editor, a player or a video site.',
  description: 'See docs/markers.md for the formats and the programs that read them.',
  access: user('user:read:broadcast', 'channel:manage:broadcast'),
  query: Type.Object({ video_id: IdFilter, ...MarkerFileQuery.properties }),
  answerFile: markerMediaTypes,
  problems: ['video_not_found', 'channel_forbidden', 'too_many_markers'],
  example: { query: { video_id: '1234567890', format: 'csv' }, answer: exampleMarkerFile },
})
