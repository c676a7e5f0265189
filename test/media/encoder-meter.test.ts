import { expect, test } from 'bun:test'
import { EncoderMeter } from '../../src/media/encoder-meter.ts'
import { encodeAmf } from '../../src/media/rtmp/amf0.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'

const message = (kind: MediaMessage['kind'], ...bytes: number[]): MediaMessage => ({
  kind,
  timestamp: 0,
  payload: Uint8Array.from(bytes),
})
const metadata = (width: unknown, height: unknown): MediaMessage => ({
  kind: 'metadata',
  timestamp: 0,
  payload: encodeAmf(
    'onMetaData',
    new Map([
      ['width', width as number],
      ['height', height as number],
    ]),
  ),
})
const H264_HEADER = message('video', 0x17, 0, 0, 0, 0)
const H264_FRAME = message('video', 0x27, 1, 0, 0, 0)
const AAC = message('audio', 0xaf, 1, 0)
const characters = (text: string) => [...text].map(each => each.charCodeAt(0))

test('rates are those since the last reading; headers are no frames', () => {
  const meter = new EncoderMeter(0)
  meter.note(metadata(1920, 1080))
  meter.note(H264_HEADER)
  for (let frame = 0; frame < 300; frame++) {
    meter.note({ ...H264_FRAME, payload: Buffer.concat([H264_FRAME.payload, Buffer.alloc(1995)]) })
    meter.note(AAC)
  }
  const first = meter.read(5000)
  expect(first).toMatchObject({ frames_per_second: 60, width: 1920, height: 1080 })
  expect(first.kilobits_per_second).toBeWithin(960, 965)
  expect([first.video_codec, first.audio_codec]).toEqual(['H.264', 'AAC'])
  // Too short to know that a track has ended.
  expect(meter.read(5500)).toEqual({ ...first, kilobits_per_second: 0, frames_per_second: 0 })
  const { video_codec, audio_codec, ...rest } = first
  expect(meter.read(10_000)).toEqual({ ...rest, kilobits_per_second: 0, frames_per_second: 0 })
})

const frameAt = (timestamp: number, isKey: boolean): MediaMessage => ({
  ...message('video', isKey ? 0x17 : 0x27, 1, 0, 0, 0),
  timestamp,
})

test('the distance of key frames, by the clock of the encoder, also where that wraps around', () => {
  const meter = new EncoderMeter(0)
  const start = 2 ** 32 - 4000
  meter.note(frameAt(start, true))
  expect(meter.read(100).key_frame_seconds).toBeUndefined()
  for (let frame = 1; frame <= 240; frame++)
    meter.note(frameAt((start + frame * 50) >>> 0, frame % 160 === 0))
  expect(meter.read(5000).key_frame_seconds).toBe(8)
  // The next one does not come.
  for (let frame = 241; frame <= 440; frame++) meter.note(frameAt((start + frame * 50) >>> 0, false))
  expect(meter.read(10_000).key_frame_seconds).toBe(14)
  // The clock of the encoder is set: nothing is known until there are two again.
  meter.note(frameAt(5, false))
  expect(meter.read(15_000).key_frame_seconds).toBeUndefined()
  for (const at of [1000, 3000]) meter.note(frameAt(at, true))
  expect(meter.read(20_000).key_frame_seconds).toBe(2)
})

test('frames that the declared rate promises and that do not come', () => {
  const declared = (framerate: unknown): MediaMessage => ({
    kind: 'metadata',
    timestamp: 0,
    payload: encodeAmf('onMetaData', new Map([['framerate', framerate as number]])),
  })
  const missing = (framerate: unknown, every: number) => {
    const meter = new EncoderMeter(0)
    meter.note(declared(framerate))
    for (let at = 0; at <= 5000; at += every) meter.note(frameAt(at, at === 0))
    return meter.read(5000).missing_frames_percent
  }
  expect(missing(20, 50)).toBe(0)
  expect(missing(20, 100)).toBe(49)
  expect(missing(10, 50)).toBe(0)
  for (const odd of ['20', 0, -1, Number.NaN, 1e9, null]) expect(missing(odd, 50)).toBeUndefined()
})

test('enhanced headers name their codecs', () => {
  const meter = new EncoderMeter(0)
  meter.note(message('video', 0x90, ...characters('av01')))
  meter.note(message('video', 0xa1, ...characters('av01'), 0))
  meter.note(message('audio', 0x91, ...characters('Opus'), 0))
  expect(meter.read(1000)).toMatchObject({ frames_per_second: 1, video_codec: 'AV1', audio_codec: 'Opus' })
})

test('what an encoder declares is believed only if it is a size', () => {
  for (const [width, height] of [
    [0, 1080],
    [1920.5, 1080],
    [Number.NaN, 1080],
    ['1920', '1080'],
    [1e9, 1e9],
    [null, null],
  ]) {
    const meter = new EncoderMeter(0)
    meter.note(metadata(width, height))
    expect(meter.read(1000)).toEqual({ kilobits_per_second: expect.any(Number), frames_per_second: 0 })
  }
})

test('malformed, large and unknown messages do no harm', () => {
  const meter = new EncoderMeter(0)
  meter.note(message('metadata', 2, 255, 255, 1))
  expect(meter.read(1000).width).toBeUndefined()
  meter.note({ ...metadata(640, 360), payload: new Uint8Array(1_000_000) })
  expect(meter.read(2000).width).toBeUndefined()
  for (const kind of ['audio', 'video', 'metadata'] as const) meter.note(message(kind))
  meter.note(message('video', 0xff, ...characters('<b>!')))
  expect(meter.read(2000).video_codec).toBeUndefined()
})
