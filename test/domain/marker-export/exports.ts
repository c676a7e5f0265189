/** Videos with markers, as odd as the API accepts them. */
import fc from 'fast-check'
import type { StreamMarker } from '../../../src/contract/resources/marker.ts'
import { type FrameRateName, frameRates } from '../../../src/contract/resources/marker-file.ts'
import type { MarkedVideo, MarkerExport } from '../../../src/domain/marker-export/marked-video.ts'
import { anyCharacter } from '../../support/properties.ts'

const video: MarkedVideo = {
  id: '1234567890',
  user_id: '141981764',
  user_login: 'lunar_otter',
  user_name: 'Lunar_Otter',
  title: 'First light over the reef',
  created_at: '2026-03-01T12:00:00Z',
  duration_seconds: 7200,
  is_live: false,
  url: 'http://localhost:8080/videos/1234567890',
}

function marker(position_seconds: number, description: string, index = 0): StreamMarker {
  const created_at = '2026-03-01T12:04:04Z'
  return { id: index.toString(16).padStart(32, '0'), created_at, description, position_seconds }
}

export function exportOf(
  positions: readonly (readonly [seconds: number, description: string])[],
  more: Partial<MarkedVideo> & { readonly fps?: FrameRateName } = {},
): MarkerExport {
  const { fps = '30', ...changes } = more
  const markers = positions.map(([seconds, description], index) => marker(seconds, description, index))
  return { video: { ...video, ...changes }, markers, fps }
}

/** What some format treats specially. */
const SPECIAL = [
  ...['', ' ', '\n', '\r\n', '\t', '\u0085', '\u2028', '\u00a0', '\ufeff', '\u0007', '\u001b[31m', '\u007f'],
  ...[
    '"',
    "'",
    '""',
    ',',
    ';',
    '#',
    '=',
    '\\',
    '\\\n',
    '|',
    '-->',
    '->',
    '<',
    '>',
    '&',
    '&amp;',
    ']]>',
    '<!--',
  ],
  ...[
    '=1+1',
    '+1',
    '-1',
    '@x',
    '＝1',
    '\t=1',
    ' =1',
    '[CHAPTER]',
    'title=',
    'NOTE',
    'WEBVTT',
    '* ',
    'TITLE: ',
  ],
  ...[
    '12:30',
    '0:00',
    '1:02:03',
    'Ünïcödé',
    '日本語',
    '👩‍👩‍👧‍👧',
    '｜',
    '…',
    'ß',
    '\ufffe',
    '\uffff',
    '\u{10ffff}',
  ],
]

/** Any text that the store keeps. */
const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SPECIAL),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.string({ maxLength: 60 }),
    ),
    { maxLength: 5 },
  )
  .map(parts => Array.from(parts.join('').replaceAll('\0', '')).slice(0, 140).join(''))

/** Positions near each other, hours apart, and as far as a position can be. */
const anyPosition = fc.oneof(fc.nat(60), fc.nat(40_000), fc.nat(100_000), fc.nat(2 ** 31 - 1))

export const anyExport: fc.Arbitrary<MarkerExport> = fc
  .record({
    positions: fc.array(fc.tuple(anyPosition, anyText), { maxLength: 20 }),
    title: anyText,
    user_name: anyText.map(name => name || 'x'),
    duration_seconds: anyPosition,
    is_live: fc.boolean(),
    fps: fc.constantFrom(...frameRates),
  })
  .map(({ positions, ...more }) =>
    exportOf(
      positions.toSorted(([a], [b]) => a - b),
      more,
    ),
  )
