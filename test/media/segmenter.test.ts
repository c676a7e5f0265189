import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { assertDefined } from '../../src/kit/assert-defined.ts'
import { readConfig } from '../../src/media/codec-config.ts'
import type { Cadence } from '../../src/media/hls/cut-planner.ts'
import { initSegment } from '../../src/media/hls/fmp4.ts'
import { type CutPart, Segmenter } from '../../src/media/hls/segmenter.ts'
import { type Packet, readPacket } from '../../src/media/packet.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { AAC, AVC, audio, CONFIGS, video } from '../support/media/codecs.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { runs } from '../support/properties.ts'

const VIDEO = assertDefined(readConfig({ codec: 'avc', data: CONFIGS.avc }), 'video')
const AUDIO = assertDefined(readConfig({ codec: 'aac', data: CONFIGS.aac44 }), 'audio')
const packet = (message: MediaMessage): Packet => assertDefined(readPacket(message), 'a packet')

interface Cutting {
  readonly segments: CutPart[][]
  readonly cadence: Cadence
  readonly outcomes: string[]
}

function cut(messages: readonly MediaMessage[], tracks = [VIDEO, AUDIO]): Cutting {
  const cadence: Cadence = { targetSeconds: undefined, partSeconds: undefined, fragments: 0 }
  const segments: CutPart[][] = []
  let parts: CutPart[] = []
  const segmenter = new Segmenter(tracks, cadence, {
    part: part => void parts.push(part),
    segmentEnded: () => {
      segments.push(parts)
      parts = []
    },
  })
  const outcomes = messages.map(message => segmenter.push(packet(message)))
  segmenter.flush()
  expect([parts, segmenter.bytes]).toEqual([[], 0])
  return { segments, cadence, outcomes }
}

/** Pictures at a rate, every so many a key frame. */
const pictures = (count: number, rate: number, group: number, start = 0): MediaMessage[] =>
  Array.from({ length: count }, (_, index) =>
    video(start + Math.round((index * 1000) / rate), index % group === 0 ? AVC.keyFrame() : AVC.frame()),
  )
const sounds = (count: number, start = 0): MediaMessage[] =>
  Array.from({ length: count }, (_, index) =>
    audio(start + Math.round((index * 1_024_000) / 44_100), AAC.frame()),
  )
const interleaved = (...lists: MediaMessage[][]) =>
  lists.flat().sort((one, other) => one.timestamp - other.timestamp)

const seconds = (parts: readonly CutPart[]) => parts.reduce((sum, part) => sum + part.seconds, 0)
const lengths = ({ segments }: Cutting) => segments.map(each => Math.round(seconds(each) * 1000) / 1000)

describe('segments begin with key frames, and have about the length of the first group of pictures', () => {
  test('of two seconds: each group is a segment of four parts', () => {
    const made = cut(interleaved(pictures(240, 30, 60), sounds(345)))
    expect(made.cadence).toMatchObject({ targetSeconds: 2, partSeconds: 0.5 })
    expect(lengths(made)).toEqual([2, 2, 2, expect.closeTo(2, 2)])
    for (const parts of made.segments.slice(0, -1))
      expect(parts.map(({ isIndependent }) => isIndependent)).toEqual([true, false, false, false])
  })

  test('of one second: two groups are a segment, and the part with the second is independent', () => {
    const made = cut(pictures(150, 25, 25), [VIDEO])
    expect(lengths(made)).toEqual([2, 2, 2])
    expect(made.segments[0]?.map(({ seconds, isIndependent }) => [seconds, isIndependent])).toEqual([
      [0.48, true],
      [0.48, false],
      [0.04, false],
      [0.48, true],
      [0.48, false],
      [0.04, false],
    ])
  })

  test('of three seconds: the target is three; of eight: four, and every second segment has no key frame', () => {
    expect(cut(pictures(270, 30, 90), [VIDEO]).cadence.targetSeconds).toBe(3)
    const made = cut(pictures(480, 30, 240), [VIDEO])
    expect([made.cadence.targetSeconds, lengths(made)]).toEqual([4, [4, 4, 4, expect.closeTo(4, 2)]])
    expect(made.segments.map(([first]) => first?.isIndependent)).toEqual([true, false, true, false])
  })

  test('a later, longer group is cut at the target, and a little longer one is not', () => {
    const longer = [
      ...pictures(120, 30, 60),
      ...pictures(240, 30, 240, 4000),
      ...pictures(60, 30, 60, 12_000),
    ]
    expect(lengths(cut(longer, [VIDEO]))).toEqual([2, 2, 2.467, 2, 2, 1.533, expect.closeTo(2, 2)])
    const jitter = [...pictures(60, 30, 60), ...pictures(62, 30, 62, 2000), ...pictures(60, 30, 60, 4067)]
    expect(lengths(cut(jitter, [VIDEO]))).toEqual([2, 2.067, expect.closeTo(2, 2)])
  })
})

describe('parts', () => {
  test('are longer where pictures are rare, with a target that is chosen at the start', () => {
    for (const [rate, target] of [
      [5, 0.6],
      [4, 0.5],
      [3, 0.67],
      [2, 0.5],
      [1, 1],
    ] as const) {
      const made = cut(pictures(rate * 12, rate, rate * 2), [VIDEO])
      expect([rate, made.cadence.partSeconds]).toEqual([rate, target])
      for (const part of made.segments.flat()) expect(part.seconds).toBeLessThanOrEqual(target)
    }
  })

  test('that groups of just half a second end decide the target, and rare pictures later do not change it', () => {
    const steady = pictures(40, 10, 5)
    expect(cut(steady, [VIDEO]).cadence.partSeconds).toBe(0.5)
    expect(cut([...steady, ...pictures(5, 1, 1, 4000)], [VIDEO]).cadence.partSeconds).toBe(0.5)
  })

  test('have only sound in the middle of a picture that is shown for long', () => {
    const slow = [
      ...pictures(60, 30, 60),
      video(2000, AVC.keyFrame()),
      video(2900, AVC.frame()),
      video(3700, AVC.frame()),
    ]
    const made = cut(interleaved(slow, sounds(170)))
    expect(made.cadence.partSeconds).toBe(0.5)
    for (const part of made.segments.flat()) expect(part.seconds).toBeLessThanOrEqual(0.5)
    expect(lengths(made)).toEqual([2, 1.7, 0.5])
  })

  test('of audio alone are all independent', () => {
    const made = cut(sounds(300), [AUDIO])
    expect(made.cadence).toMatchObject({ targetSeconds: 2, partSeconds: 0.5 })
    expect(made.segments.flat().every(({ isIndependent }) => isIndependent)).toBe(true)
    for (const length of lengths(made).slice(0, -1)) expect(length).toBeWithin(1.98, 2.02)
  })
})

describe('a stretch', () => {
  test('starts with a key frame; everything before it is dropped', () => {
    const { outcomes } = cut([
      audio(0, AAC.frame()),
      video(0, AVC.frame()),
      video(40, AVC.keyFrame()),
      audio(30, AAC.frame()),
    ])
    expect(outcomes).toEqual(['dropped', 'dropped', 'taken', 'taken'])
  })

  test('ends where timestamps jump or go back, and not where they wrap', () => {
    const breaks = (...times: number[]) =>
      cut(
        times.map(time => video(time, AVC.keyFrame())),
        [VIDEO],
      ).outcomes.indexOf('break')
    expect(breaks(0, 40, 1040, 2040)).toBe(-1)
    expect(breaks(0, 40, 1041)).toBe(2)
    expect(breaks(5000, 5040, 5039)).toBe(2)
    expect(breaks(5000, 5040, 0)).toBe(2)
    expect(breaks(10, 50, 3_000_000_000)).toBe(2)
    expect(breaks(4_294_967_290, 4_294_967_295, 35, 75)).toBe(-1)
  })

  test('ends where sound goes back by more than encoders are inexact', () => {
    const breaks = (...times: number[]) =>
      cut(
        times.map(time => audio(time, AAC.frame())),
        [AUDIO],
      ).outcomes.indexOf('break')
    expect(breaks(0, 0, 46, 46, 93, 93)).toBe(-1)
    expect(breaks(0, 23, 46, 70, 93, 116, 5)).toBe(6)
    expect(breaks(...Array.from({ length: 20 }, () => 500))).toBeGreaterThan(3)
  })

  test('continues with sound while the picture has stopped, and with the picture when it returns', async () => {
    const stopped = interleaved(pictures(60, 30, 60), sounds(250), pictures(30, 30, 60, 5000))
    const made = cut(stopped)
    expect(made.outcomes).not.toContain('break')
    const [pictureTrack, soundTrack] = await readMp4(
      initSegment([VIDEO, AUDIO]),
      ...made.segments.flat().flatMap(({ pieces }) => pieces),
    )
    expect([pictureTrack?.samples.length, soundTrack?.samples.length]).toEqual([90, 250])
  })
})

test('property: however a broadcast is made, mediabunny finds every sample of it, at its time, in parts that obey the rules', async () => {
  const shape = fc.record({
    rate: fc.constantFrom(10, 15, 23.976, 24, 25, 29.97, 30, 50, 59.94, 60),
    group: fc.integer({ min: 1, max: 300 }),
    start: fc.constantFrom(0, 1000, 4_294_960_000),
    hasSound: fc.boolean(),
    lag: fc.integer({ min: 0, max: 200 }),
    offset: fc.constantFrom(0, 80),
  })
  await fc.assert(
    fc.asyncProperty(shape, async ({ rate, group, start, hasSound, lag, offset }) => {
      const count = Math.round(rate * 9)
      const shown = Array.from({ length: count }, (_, index) => ({
        time: Math.round((index * 1000) / rate),
        payload: index % group === 0 ? AVC.keyFrame(20 + index, offset) : AVC.frame(20 + index, offset),
      }))
      const heard = hasSound
        ? Array.from({ length: 380 }, (_, index) => Math.round((index * 1_024_000) / 44_100))
        : []
      // Sound arrives later than the pictures of its time.
      const order = [
        ...shown.map(({ time, payload }) => ({ at: time, message: video((start + time) >>> 0, payload) })),
        ...heard.map(time => ({ at: time + lag, message: audio((start + time) >>> 0, AAC.frame()) })),
      ].sort((one, other) => one.at - other.at)
      const tracks = hasSound ? [VIDEO, AUDIO] : [VIDEO]
      const { segments, cadence, outcomes } = cut(
        order.map(({ message }) => message),
        tracks,
      )
      expect(outcomes).not.toContain('break')
      const { targetSeconds = 0, partSeconds = 0 } = cadence
      for (const [index, parts] of segments.entries()) {
        expect(Math.round(seconds(parts))).toBeLessThanOrEqual(targetSeconds)
        const following = segments[index + 1]?.[0]
        for (const [place, part] of parts.entries()) {
          expect(part.seconds).toBeLessThanOrEqual(partSeconds)
          const next = parts[place + 1]
          if (next !== undefined && !next.isIndependent)
            expect(part.seconds).toBeGreaterThanOrEqual(0.85 * partSeconds)
        }
        if (group / rate <= 2 && following !== undefined) expect(following.isIndependent).toBe(true)
      }
      const [pictureTrack, soundTrack] = await readMp4(
        initSegment(tracks),
        ...segments.flat().flatMap(({ pieces }) => pieces),
      )
      expect(
        pictureTrack?.samples.map(each => [Math.round(each.seconds * 90_000), each.data.length, each.isKey]),
      ).toEqual(
        shown.map(({ time, payload }, index) => [
          (start + time + offset) * 90,
          payload.length - 5,
          index % group === 0,
        ]),
      )
      const taken = outcomes.filter(
        (each, index) => each === 'taken' && order[index]?.message.kind === 'audio',
      ).length
      expect(soundTrack?.samples.length ?? 0).toBe(taken)
      const late = heard.length - taken
      for (const [index, each] of (soundTrack?.samples ?? []).entries())
        expect(Math.abs(each.seconds * 1000 - start - (heard[index + late] ?? 0))).toBeLessThanOrEqual(1)
    }),
    { numRuns: runs(80) },
  )
}, 60_000)

test('nothing that is sent makes what waits grow: large pictures, and many messages of one moment', () => {
  const cadence: Cadence = { targetSeconds: undefined, partSeconds: undefined, fragments: 0 }
  let parts = 0
  let largest = 0
  const segmenter = new Segmenter([VIDEO, AUDIO], cadence, {
    part: ({ pieces }) => {
      parts += 1
      largest = Math.max(largest, Buffer.concat(pieces).length)
    },
    segmentEnded: () => undefined,
  })
  const large = AVC.keyFrame(4 * 1024 * 1024 - 20)
  let most = 0
  for (let time = 0; time < 50; time++) {
    segmenter.push(packet(video(time, large)))
    most = Math.max(most, segmenter.bytes)
  }
  expect(most).toBeLessThan(13 * 1024 * 1024)
  expect(largest).toBeLessThan(13 * 1024 * 1024)
  const tiny = packet(video(50, AVC.frame(1)))
  const began = performance.now()
  for (let count = 0; count < 500_000; count++) segmenter.push(tiny)
  expect(segmenter.bytes).toBeLessThan(1024 * 1024)
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(parts).toBeWithin(20, 400)
})
