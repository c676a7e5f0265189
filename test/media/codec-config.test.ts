import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { isStartOfDecoding, MAX_CONFIG_BYTES, readConfig, sameConfig } from '../../src/media/codec-config.ts'
import { type Codec, readPacket } from '../../src/media/packet.ts'
import { AVC, CONFIGS, MP3_FRAME, video } from '../support/media/codecs.ts'
import { runs } from '../support/properties.ts'

const CODECS: readonly Codec[] = ['avc', 'hevc', 'av1', 'aac', 'opus', 'mp3']
const read = (codec: Codec, data: Uint8Array) => readConfig({ codec, data })

describe('a configuration of a real encoder has its size and its name', () => {
  test('in H.264, also interlaced, cropped, with ten bits and with full colours', () => {
    const expected = [
      ['avc', 'avc1.42c00a', 64, 48],
      ['avcHigh', 'avc1.64001f', 1280, 720],
      ['avc422', 'avc1.7a0028', 1920, 1080],
      ['avc444', 'avc1.f4000c', 322, 182],
      ['avcInterlaced', 'avc1.640016', 720, 576],
    ] as const
    for (const [name, codecString, width, height] of expected)
      expect(read('avc', CONFIGS[name])).toEqual({
        kind: 'video',
        codec: 'avc',
        codecString,
        width,
        height,
        config: new Uint8Array(CONFIGS[name]),
      })
  })

  test('in HEVC and AV1', () => {
    expect(read('hevc', CONFIGS.hevc)).toMatchObject({
      codecString: 'hvc1.1.6.L120.90',
      width: 1920,
      height: 1080,
    })
    expect(read('hevc', CONFIGS.hevcSmall)).toMatchObject({
      codecString: 'hvc1.1.6.L60.90',
      width: 322,
      height: 182,
    })
    expect(read('av1', CONFIGS.av1)).toMatchObject({ codecString: 'av01.0.05M.08', width: 1280, height: 720 })
    expect(read('av1', CONFIGS.av1Small)).toMatchObject({
      codecString: 'av01.0.00M.08',
      width: 322,
      height: 182,
    })
  })

  test('in AAC, Opus and MP3: the sample rate, the channels and the samples of a frame', () => {
    expect(read('aac', CONFIGS.aac44)).toMatchObject({
      kind: 'audio',
      codecString: 'mp4a.40.2',
      sampleRate: 44_100,
      channels: 1,
      samplesPerFrame: 1024,
    })
    expect(read('aac', CONFIGS.aac48)).toMatchObject({ sampleRate: 48_000 })
    // HE-AAC in 24,000 Hz doubled, and a rate that is not in the table.
    expect(read('aac', Buffer.from('2b118800', 'hex'))).toMatchObject({
      codecString: 'mp4a.40.5',
      sampleRate: 24_000,
      channels: 2,
    })
    expect(read('aac', Buffer.from('1780567010', 'hex'))).toMatchObject({ sampleRate: 44_256, channels: 2 })
    expect(read('opus', CONFIGS.opus)).toMatchObject({
      codecString: 'opus',
      sampleRate: 48_000,
      channels: 2,
      config: new Uint8Array(Buffer.from('0002013800005dc0000000', 'hex')),
    })
    expect(read('mp3', MP3_FRAME)).toMatchObject({
      codecString: 'mp4a.6B',
      sampleRate: 44_100,
      channels: 2,
      samplesPerFrame: 1152,
    })
  })

  test('and is undefined if a decoder could not use it', () => {
    const unusable: [Codec, Uint8Array][] = [
      ['avc', CONFIGS.avc.subarray(0, 20)],
      ['avc', Buffer.concat([CONFIGS.avc.subarray(0, 31), Buffer.from([0])])],
      ['avc', Buffer.concat([CONFIGS.avc, Buffer.alloc(MAX_CONFIG_BYTES)])],
      ['hevc', CONFIGS.hevc.subarray(0, 60)],
      ['av1', CONFIGS.av1.subarray(0, 8)],
      ['aac', Buffer.from([0x12])],
      ['aac', Buffer.from([0x16, 0x88])],
      ['aac', Buffer.from([0x12, 0x78])],
      ['opus', CONFIGS.opus.subarray(1)],
      ['mp3', Buffer.from([0xff, 0xfd, 0x90, 0x64])],
    ]
    for (const [codec, data] of unusable) expect(read(codec, data)).toBeUndefined()
  })
})

test('two configurations are the same if their bytes are', () => {
  const [one, other] = [
    assertDefined(read('avc', CONFIGS.avc), 'one'),
    assertDefined(read('avc', CONFIGS.avcHigh), 'other'),
  ]
  expect([sameConfig(one, { ...one }), sameConfig(one, other)]).toEqual([true, false])
  const stereo = assertDefined(read('mp3', MP3_FRAME), 'stereo')
  const mono = assertDefined(read('mp3', Buffer.from([0xff, 0xfb, 0x90, 0xc4])), 'mono')
  expect([sameConfig(stereo, stereo), sameConfig(stereo, mono)]).toEqual([true, false])
})

test('decoding starts at a picture that needs no other, not at one that only has the flag', () => {
  const config = assertDefined(read('avc', CONFIGS.avc), 'a configuration')
  const starts = (payload: Uint8Array) =>
    isStartOfDecoding(config, assertDefined(readPacket(video(0, payload)), 'a packet'))
  expect(starts(AVC.keyFrame())).toBe(true)
  expect(starts(AVC.frame())).toBe(false)
  const flagged = AVC.frame()
  flagged[0] = 0x17
  expect(starts(flagged)).toBe(false)
  // Behind an access unit delimiter and a parameter set.
  const [start, picture] = [AVC.keyFrame().subarray(0, 5), AVC.keyFrame().subarray(5)]
  expect(
    starts(
      Buffer.concat([start, Buffer.from('0000000209f0', 'hex'), Buffer.from('0000000167', 'hex'), picture]),
    ),
  ).toBe(true)
  expect(starts(Buffer.concat([start, Buffer.alloc(4_000_000)]))).toBe(false)
})

test('property: any bytes give a usable configuration or undefined, in a bounded time', () => {
  const known = fc.constantFrom(...Object.values(CONFIGS), MP3_FRAME)
  const damaged = fc
    .tuple(known, fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 4 }), fc.nat(150))
    .map(([bytes, changes, length]) => {
      const copy = Buffer.from(bytes.subarray(0, length))
      for (const [at, value] of changes) if (at < copy.length) copy[at] = value
      return copy as Uint8Array
    })
  fc.assert(
    fc.property(
      fc.constantFrom(...CODECS),
      fc.oneof(damaged, fc.uint8Array({ maxLength: 80 })),
      (codec, data) => {
        const config = read(codec, data)
        if (config === undefined) return
        expect(config.codecString).toMatch(/^(?:avc1|hvc1|av01|mp4a|opus)[A-Za-z0-9.]*$/)
        if (config.kind === 'video') {
          expect(config.width).toBeWithin(1, 16_385)
          expect(config.height).toBeWithin(1, 16_385)
        } else expect(config.sampleRate).toBeWithin(7350, 96_001)
      },
    ),
    { numRuns: runs(4000) },
  )
})
