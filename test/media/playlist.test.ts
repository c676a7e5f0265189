import { expect, test } from 'bun:test'
import { type ListedSegment, mediaPlaylist, multivariantPlaylist } from '../../src/media/hls/playlist.ts'

const AT = Date.UTC(2026, 2, 1, 12)
const segment = (sequence: number, more: Partial<ListedSegment> = {}): ListedSegment => ({
  ...{ sequence, seconds: 2, init: 0, isDiscontinuous: false, startsAt: AT + sequence * 2000, parts: [] },
  ...more,
})
const common = { targetSeconds: 2, partSeconds: 0.5, discontinuitySequence: 0, hasEnded: false }

test('the multivariant playlist names one variant, with what is known of it', () => {
  const known = { codecs: ['avc1.64001f', 'mp4a.40.2'], width: 1280, height: 720, framesPerSecond: 30 }
  expect(multivariantPlaylist({ uri: 'otter/1/index.m3u8', bitsPerSecond: 6_000_000.2, ...known })).toBe(
    [
      '#EXTM3U',
      '#EXT-X-VERSION:9',
      '#EXT-X-STREAM-INF:BANDWIDTH=6000001,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=30.000',
      'otter/1/index.m3u8',
      '',
    ].join('\n'),
  )
  expect(multivariantPlaylist({ uri: 'x', bitsPerSecond: 0 })).toContain(
    '\n#EXT-X-STREAM-INF:BANDWIDTH=1\nx\n',
  )
})

test('the media playlist lists segments, the parts of the last ones, and the part that comes next', () => {
  const parts = [
    { seconds: 0.5, isIndependent: true },
    { seconds: 0.43333333, isIndependent: false },
  ]
  const text = mediaPlaylist({
    ...common,
    segments: [segment(7), segment(8, { parts }), segment(9, { seconds: undefined, parts })],
  })
  expect(text).toBe(
    [
      '#EXTM3U',
      '#EXT-X-VERSION:9',
      '#EXT-X-TARGETDURATION:2',
      '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5',
      '#EXT-X-PART-INF:PART-TARGET=0.5',
      '#EXT-X-MEDIA-SEQUENCE:7',
      '#EXT-X-MAP:URI="init-0.mp4"',
      '#EXT-X-PROGRAM-DATE-TIME:2026-03-01T12:00:14.000Z',
      '#EXTINF:2.0,',
      '7.m4s',
      '#EXT-X-PROGRAM-DATE-TIME:2026-03-01T12:00:16.000Z',
      '#EXT-X-PART:DURATION=0.5,URI="8.0.m4s",INDEPENDENT=YES',
      '#EXT-X-PART:DURATION=0.43333,URI="8.1.m4s"',
      '#EXTINF:2.0,',
      '8.m4s',
      '#EXT-X-PROGRAM-DATE-TIME:2026-03-01T12:00:18.000Z',
      '#EXT-X-PART:DURATION=0.5,URI="9.0.m4s",INDEPENDENT=YES',
      '#EXT-X-PART:DURATION=0.43333,URI="9.1.m4s"',
      '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="9.2.m4s"',
      '',
    ].join('\n'),
  )
  expect(mediaPlaylist({ ...common, segments: [segment(7)] })).toEndWith('"8.0.m4s"\n')
})

test('a change has a discontinuity and the init segment; at the start of the window it is only counted', () => {
  const text = mediaPlaylist({
    ...common,
    discontinuitySequence: 3,
    segments: [
      segment(1, { isDiscontinuous: true, init: 1 }),
      segment(2, { init: 1 }),
      segment(3, { isDiscontinuous: true, init: 1 }),
      segment(4, { isDiscontinuous: true, init: 2 }),
    ],
    hasEnded: true,
  })
  const marks = text.split('\n').filter(line => /DISCONTINUITY|MAP|m4s|ENDLIST|HINT/.test(line))
  expect(marks).toEqual([
    '#EXT-X-DISCONTINUITY-SEQUENCE:3',
    '#EXT-X-MAP:URI="init-1.mp4"',
    '1.m4s',
    '2.m4s',
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-MAP:URI="init-1.mp4"',
    '3.m4s',
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-MAP:URI="init-2.mp4"',
    '4.m4s',
    '#EXT-X-ENDLIST',
  ])
})
