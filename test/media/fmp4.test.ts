import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { readConfig, type TrackConfig } from '../../src/media/codec-config.ts'
import { fragment, initSegment, type Sample, timescale } from '../../src/media/hls/fmp4.ts'
import type { Codec } from '../../src/media/packet.ts'
import { CONFIGS, MP3_FRAME } from '../support/media/codecs.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { runs } from '../support/properties.ts'

const config = (codec: Codec, data: Uint8Array): TrackConfig =>
  assertDefined(readConfig({ codec, data }), codec)
const AVC = config('avc', CONFIGS.avcHigh)
const AAC = config('aac', CONFIGS.aac44)
const sample = (duration: number, more: Partial<Sample> = {}): Sample => ({
  ...{ data: Buffer.from(`sample of ${duration}`), duration, compositionOffset: 0, isKey: false },
  ...more,
})

describe('mediabunny reads', () => {
  test('the tracks of every codec, with size, rate and name', async () => {
    const tracks = [
      [AVC, { kind: 'video', codec: 'avc', codecString: 'avc1.64001f', width: 1280, height: 720 }],
      [
        config('hevc', CONFIGS.hevc),
        {
          codec: 'hevc',
          codecString: expect.stringMatching(/^h(?:ev|vc)1\.1\.6\.L120\.90$/),
          width: 1920,
          height: 1080,
        },
      ],
      [config('av1', CONFIGS.av1), { codec: 'av1', width: 1280, height: 720 }],
      [AAC, { kind: 'audio', codec: 'aac', codecString: 'mp4a.40.2', sampleRate: 44_100, channels: 1 }],
      [config('opus', CONFIGS.opus), { codec: 'opus', sampleRate: 48_000, channels: 2 }],
      [config('mp3', MP3_FRAME), { codec: 'mp3', sampleRate: 44_100, channels: 2 }],
    ] as const
    for (const [track, expected] of tracks) {
      const isKey = true
      const { kind } = track
      const run = { trackId: 1, kind, baseDecodeTime: 0, samples: [sample(1000, { isKey, data: MP3_FRAME })] }
      const read = await readMp4(initSegment([track]), fragment(1, [run]))
      expect(read.map(({ samples, ...rest }) => rest)).toMatchObject([{ kind, ...expected }])
    }
  })

  test('samples of several fragments: times exact, beyond 2^32 too, with offsets in both directions', async () => {
    const start = 2 ** 33 + 90
    const first = [
      sample(3000, { isKey: true, compositionOffset: 6000 }),
      sample(3000, { compositionOffset: 12_000 }),
      sample(3000, { compositionOffset: -90 }),
    ]
    const sound = [sample(1024), sample(1024)]
    const [video, audio] = await readMp4(
      initSegment([AVC, AAC]),
      fragment(1, [
        { trackId: 1, kind: 'video', baseDecodeTime: start, samples: first },
        { trackId: 2, kind: 'audio', baseDecodeTime: 44_100, samples: sound },
      ]),
      fragment(2, [{ trackId: 1, kind: 'video', baseDecodeTime: start + 9000, samples: [sample(4500)] }]),
    )
    const ticks = video?.samples.map(({ seconds }) => Math.round(seconds * 90_000) - start)
    expect(ticks).toEqual([6000, 15_000, 5910, 9000])
    expect(video?.samples.map(({ isKey }) => isKey)).toEqual([true, false, false, false])
    expect(video?.samples.map(({ data }) => Buffer.from(data).toString())).toEqual([
      ...['sample of 3000', 'sample of 3000', 'sample of 3000', 'sample of 4500'],
    ])
    expect(audio?.samples.map(({ seconds }) => Math.round(seconds * 44_100))).toEqual([44_100, 45_124])
    expect(audio?.samples.every(({ isKey }) => isKey)).toBe(true)
  })

  test('property: whatever the samples are, each with its time, its bytes and its kind', async () => {
    const samples = fc.array(
      fc.record({
        data: fc.uint8Array({ minLength: 1, maxLength: 50 }),
        duration: fc.integer({ min: 1, max: 90_000 }),
        compositionOffset: fc.integer({ min: 0, max: 20_000 }),
        isKey: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    )
    const times = fc.nat(2 ** 40)
    await fc.assert(
      fc.asyncProperty(samples, samples, times, times, async (pictures, sounds, videoTime, audioTime) => {
        const all = [
          {
            trackId: 1,
            kind: 'video',
            baseDecodeTime: videoTime,
            samples: [{ ...pictures[0], isKey: true } as Sample, ...pictures.slice(1)],
          },
          { trackId: 2, kind: 'audio', baseDecodeTime: audioTime, samples: sounds },
        ] as const
        const read = await readMp4(initSegment([AVC, AAC]), fragment(1, all))
        for (const [index, { kind, baseDecodeTime, samples: written }] of all.entries()) {
          const scale = timescale(index === 0 ? AVC : AAC)
          let decodeTime = baseDecodeTime
          const expected = written.map(({ data, duration, compositionOffset, isKey }) => {
            const time = decodeTime + (kind === 'video' ? compositionOffset : 0)
            decodeTime += duration
            return { time, isKey: kind === 'audio' || isKey, data: new Uint8Array(data) }
          })
          const found = read[index]?.samples.map(({ seconds, isKey, data }) => ({
            time: Math.round(seconds * scale),
            isKey,
            data,
          }))
          expect(found).toEqual(expected)
        }
      }),
      { numRuns: runs(100) },
    )
  })
})
