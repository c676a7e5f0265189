import type { Static } from 'typebox'
import { Type } from '../schema.ts'

const TEXT = 'text/plain; charset=utf-8'

/** The formats in which the markers of a video are exported. */
export const markerFormats = {
  csv: { mediaType: 'text/csv; charset=utf-8', ending: '-markers.csv' },
  edl: { mediaType: TEXT, ending: '-markers.edl' },
  fcpxml: { mediaType: 'application/xml', ending: '-markers.fcpxml' },
  otio: { mediaType: 'application/json', ending: '-markers.otio' },
  ffmetadata: { mediaType: TEXT, ending: '-chapters.ffmetadata' },
  vtt: { mediaType: 'text/vtt; charset=utf-8', ending: '-chapters.vtt' },
  youtube: { mediaType: TEXT, ending: '-youtube.txt' },
  json: { mediaType: 'application/json', ending: '-markers.json' },
} as const

export type MarkerFormat = keyof typeof markerFormats

/** The frame rates of the formats with timecode, as people write them. */
export const frameRates = ['23.976', '24', '25', '29.97', '30', '50', '59.94', '60'] as const

export type FrameRateName = (typeof frameRates)[number]

export const MarkerFileQuery = Type.Object({
  format: Type.Enum(Object.keys(markerFormats) as MarkerFormat[]),
  fps: Type.Optional(
    Type.Enum([...frameRates], {
      description:
        'Frames per second of the edited video (default: 30). Timecode is drop-frame with `29.97` and `59.94`.',
    }),
  ),
})
export type MarkerFileQuery = Static<typeof MarkerFileQuery>

/** The first is that of the example. */
export const markerMediaTypes = [
  'text/csv; charset=utf-8',
  TEXT,
  'text/vtt; charset=utf-8',
  'application/xml',
  'application/json',
] as const

export const exampleMarkerFile = [
  'id,position_seconds,timecode,created_at,description,url',
  '9f3d1c2b4a5e6f708192a3b4c5d6e7f8,244,00:04:04:00,2026-03-01T12:04:04Z,the jump,http://localhost:8080/videos/1234567890?t=0h4m4s',
  '',
].join('\r\n')
