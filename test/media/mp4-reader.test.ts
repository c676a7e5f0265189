import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { readConfig } from '../../src/media/codec-config.ts'
import { fragment, initSegment, type Sample } from '../../src/media/hls/fmp4.ts'
import { MovieTables } from '../../src/media/recording/movie-tables.ts'
import { readFragment, readHeader, readInit, writeTime } from '../../src/media/recording/mp4-reader.ts'
import { CONFIGS } from '../support/media/codecs.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { runs } from '../support/properties.ts'

const AVC = assertDefined(readConfig({ codec: 'avc', data: CONFIGS.avcHigh }), 'avc')
const SMALL = assertDefined(readConfig({ codec: 'avc', data: CONFIGS.avc }), 'avc')
const AAC = assertDefined(readConfig({ codec: 'aac', data: CONFIGS.aac44 }), 'aac')
const AAC48 = assertDefined(readConfig({ codec: 'aac', data: CONFIGS.aac48 }), 'aac')

const samples = fc.array(
  fc.record({
    data: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    duration: fc.integer({ min: 1, max: 9000 }),
    compositionOffset: fc.integer({ min: -3000, max: 20_000 }),
    isKey: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)
const moofOf = (bytes: Uint8Array) => {
  const buffer = Buffer.from(bytes)
  return buffer.subarray(0, readHeader(buffer)?.size)
}

describe('of an MP4', () => {
  test('an init segment is read as it was described', () => {
    const tracks = readInit(Buffer.from(initSegment([AVC, AAC])))
    expect(tracks).toMatchObject([
      { id: 1, kind: 'video', scale: 90_000, width: 1280, height: 720 },
      { id: 2, kind: 'audio', scale: 44_100, width: 0, height: 0 },
    ])
    expect(tracks?.map(({ entry }) => Buffer.from(entry).toString('latin1', 4, 8))).toEqual(['avc1', 'mp4a'])
  })

  test('property: a fragment is read as it was described, and its time can be set', () => {
    fc.assert(
      fc.property(samples, samples, fc.nat(2 ** 40), fc.nat(2 ** 40), (pictures, sounds, time, other) => {
        const bytes = fragment(7, [
          { trackId: 1, kind: 'video', baseDecodeTime: time, samples: pictures },
          { trackId: 2, kind: 'audio', baseDecodeTime: other, samples: sounds },
        ])
        const moof = moofOf(bytes)
        const [video, audio] = readFragment(moof) ?? []
        expect([video?.baseDecodeTime, audio?.baseDecodeTime]).toEqual([time, other])
        const described = ({ data, ...sample }: Sample) => ({ ...sample, size: data.length })
        expect(video?.samples).toEqual(pictures.map(described))
        expect(audio?.samples).toEqual(
          sounds.map(sample => ({ ...described(sample), compositionOffset: 0, isKey: true })),
        )
        const first = Buffer.from(bytes).subarray(audio?.dataAt)
        expect(first.subarray(0, sounds[0]?.data.length)).toEqual(Buffer.from(sounds[0]?.data ?? []))
        writeTime(moof, audio?.timeAt ?? 0, other + 2 ** 33)
        expect(readFragment(moof)?.map(run => run.baseDecodeTime)).toEqual([time, other + 2 ** 33])
      }),
      { numRuns: runs(200) },
    )
  })

  test('property: any bytes, and any damage, are read without an error', () => {
    const valid = [
      Buffer.from(initSegment([AVC, AAC])),
      moofOf(
        fragment(1, [
          {
            trackId: 1,
            kind: 'video',
            baseDecodeTime: 5,
            samples: [{ data: Buffer.alloc(9), duration: 1, compositionOffset: 0, isKey: true }],
          },
        ]),
      ),
    ]
    fc.assert(
      fc.property(
        fc.nat(1),
        fc.nat(2000),
        fc.uint8Array({ maxLength: 20 }),
        fc.nat(2000),
        (which, at, damage, end) => {
          const bytes = Buffer.from(valid[which] ?? []).subarray(0, end)
          bytes.set(damage.slice(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length))
          for (const input of [bytes, Buffer.from(damage)]) {
            const read = [readInit(input), readFragment(input)]
            expect(read.every(each => each === undefined || Array.isArray(each))).toBe(true)
          }
        },
      ),
      { numRuns: runs(2000) },
    )
  })
})

test('property: tables of a whole movie: mediabunny reads every sample of any fragments, with times, gaps and changes', async () => {
  const piece = fc.record({
    pictures: samples,
    sounds: samples,
    gap: fc.nat(200_000),
    isSmall: fc.boolean(),
    is48: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.nat(1_000_000),
      async (pieces, start) => {
        const tables = new MovieTables()
        const parts: Uint8Array[] = []
        const expected: Record<'video' | 'audio', { time: number; data: string }[]> = { video: [], audio: [] }
        let at = 24
        let tick = start
        const scale = pieces[0]?.is48 ? 48_000 : 44_100
        for (const { pictures, sounds, gap, isSmall, is48 } of pieces) {
          tick += gap
          const tracks = readInit(Buffer.from(initSegment([isSmall ? SMALL : AVC, is48 ? AAC48 : AAC]))) ?? []
          const rate = is48 ? 48_000 : 44_100
          const base = Math.ceil((tick * rate) / 90_000)
          const [first, ...others] = pictures
          const video = [{ ...first, isKey: true } as Sample, ...others]
          const bytes = fragment(1, [
            { trackId: 1, kind: 'video', baseDecodeTime: tick, samples: video },
            { trackId: 2, kind: 'audio', baseDecodeTime: base, samples: sounds },
          ])
          tables.add(tracks, readFragment(moofOf(bytes)) ?? [], at)
          parts.push(bytes)
          at += bytes.length
          let time = tick
          for (const { data, duration, compositionOffset } of video) {
            expected.video.push({ time: time + compositionOffset, data: Buffer.from(data).toString('hex') })
            time += duration
          }
          let sound = base
          for (const { data, duration } of sounds) {
            expected.audio.push({ time: (sound * scale) / rate, data: Buffer.from(data).toString('hex') })
            sound += duration
          }
          tick = Math.max(time, Math.ceil((sound * 90_000) / rate))
        }
        const head = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\0mdat', 'latin1')
        head.writeUInt32BE(at - 16, 16)
        const read = await readMp4(head, ...parts, ...tables.box())
        for (const { kind, samples: found } of read) {
          const rate = kind === 'video' ? 90_000 : scale
          expect(found.map(({ data }) => Buffer.from(data).toString('hex'))).toEqual(
            expected[kind].map(each => each.data),
          )
          for (const [index, { seconds }] of found.entries())
            expect(Math.abs(seconds * rate - (expected[kind][index]?.time ?? 0))).toBeLessThan(
              kind === 'video' ? 0.5 : 2,
            )
        }
      },
    ),
    { numRuns: runs(60) },
  )
})
