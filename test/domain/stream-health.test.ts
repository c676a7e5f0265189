import { expect, test } from 'bun:test'
import type { EncoderStatus } from '../../src/domain/encoder-status.ts'
import { ENCODER_SETTINGS, findHealthProblems } from '../../src/domain/stream-health.ts'

const HEALTHY: EncoderStatus = {
  kilobits_per_second: 6000,
  frames_per_second: 60,
  width: 1920,
  height: 1080,
  video_codec: 'H.264',
  audio_codec: 'AAC',
  key_frame_seconds: 2,
  missing_frames_percent: 0,
}
const { audio_codec: _, ...SILENT } = HEALTHY
const { video_codec: __, ...BLIND } = HEALTHY

test('a stream as encoders are set for it has no problem', () => {
  expect(findHealthProblems(HEALTHY)).toEqual([])
  // What is not known is no problem.
  const { key_frame_seconds, missing_frames_percent, ...measured } = HEALTHY
  expect(findHealthProblems(measured)).toEqual([])
  expect(findHealthProblems({ kilobits_per_second: 0, frames_per_second: 0 })).toEqual([])
})

test('the settings that the studio recommends have no problem', () => {
  const [video, audio, interval, bitrate] = ENCODER_SETTINGS.map(({ value }) => value)
  const recommended: EncoderStatus = {
    ...HEALTHY,
    video_codec: video ?? '',
    audio_codec: audio ?? '',
    key_frame_seconds: Number.parseInt(interval ?? '', 10),
    kilobits_per_second: Number.parseInt(bitrate ?? '', 10),
  }
  expect(recommended).toEqual(HEALTHY)
  expect(findHealthProblems(recommended)).toEqual([])
})

for (const [name, encoder, problem, advice] of [
  ['no sound', SILENT, 'No sound arrives.', 'audio device'],
  ['no picture', BLIND, 'No picture arrives.', 'source'],
  ['distant key frames', { ...HEALTHY, key_frame_seconds: 8.04 }, 'every 8 s', 'interval to 2 s'],
  ['missing frames', { ...HEALTHY, missing_frames_percent: 9 }, '9 % of the frames', 'Lower the bitrate'],
  ['a high bitrate', { ...HEALTHY, kilobits_per_second: 12_400 }, '12.4 Mbit/s', '6000 kbit/s'],
  ['a codec of some browsers', { ...HEALTHY, video_codec: 'H.265' }, 'do not play H.265', 'H.264'],
  ['a codec of no browser', { ...HEALTHY, audio_codec: 'Speex' }, 'cannot play Speex', 'AAC'],
] as const)
  test(`${name} is a problem, with what to do about it`, () => {
    const problems = findHealthProblems(encoder)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.problem).toContain(problem)
    expect(problems[0]?.advice).toContain(advice)
  })

test('all problems are named, the worst first', () => {
  const problems = findHealthProblems({ ...SILENT, kilobits_per_second: 20_000, key_frame_seconds: 10 })
  expect(problems.map(({ problem }) => problem.split(' ')[0])).toEqual(['No', 'Key', '20.0'])
})
