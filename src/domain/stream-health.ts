/** What is wrong with a broadcast, as far as the media server knows, and what the broadcaster can do about it. */
import type { EncoderStatus } from './encoder-status.ts'

export interface HealthProblem {
  readonly problem: string
  readonly advice: string
}

/** Players start with a key frame. Encoders send one every two seconds if they are set so. */
const MAX_KEY_FRAME_SECONDS = 4.5
const MIN_MISSING_PERCENT = 5
/** Nothing is made smaller for viewers, and many connections carry less. */
const MAX_KILOBITS = 8000

/** Codecs that no browser plays from HLS, and those that some do not. */
const UNPLAYABLE: ReadonlySet<string> = new Set(['Sorenson', 'VP6', 'VP8', 'VP9', 'Speex', 'FLAC', 'AC-3'])
const PARTLY_PLAYABLE: ReadonlySet<string> = new Set(['H.265', 'AV1'])

interface EncoderSetting {
  readonly name: string
  readonly value: string
  readonly reason: string
}

/** With these settings, `findHealthProblems` finds nothing. */
export const ENCODER_SETTINGS: readonly EncoderSetting[] = [
  { name: 'Video encoder', value: 'H.264', reason: 'Every browser plays it.' },
  { name: 'Audio encoder', value: 'AAC', reason: 'Every browser plays it.' },
  { name: 'Keyframe interval', value: '2 s', reason: 'Players start sooner.' },
  { name: 'Bitrate', value: '6000 kbit/s', reason: 'Enough for 1080p.' },
]

/** The worst first; none if all is well. */
export function findHealthProblems(encoder: EncoderStatus): HealthProblem[] {
  const { video_codec, audio_codec, key_frame_seconds = 0, missing_frames_percent = 0 } = encoder
  const problems: HealthProblem[] = []
  // It has just connected.
  if (video_codec === undefined && audio_codec === undefined) return problems
  const add = (problem: string, advice: string) => problems.push({ problem, advice })
  if (video_codec === undefined)
    add('No picture arrives.', 'Check that your encoder sends video, and that your scene has a source.')
  if (audio_codec === undefined)
    add('No sound arrives.', 'Choose an audio device in your encoder. In OBS: Settings → Audio.')
  for (const codec of [video_codec, audio_codec])
    if (codec !== undefined && UNPLAYABLE.has(codec))
      add(`Viewers cannot play ${codec}.`, 'Choose H.264 for the picture and AAC for the sound.')
    else if (codec !== undefined && PARTLY_PLAYABLE.has(codec))
      add(`Some browsers do not play ${codec}.`, 'Choose H.264 to reach all viewers.')
  if (missing_frames_percent >= MIN_MISSING_PERCENT)
    add(
      `${missing_frames_percent} % of the frames are missing.`,
      'Your computer or your connection is too slow. Lower the bitrate or the resolution, or use a cable.',
    )
  if (key_frame_seconds > MAX_KEY_FRAME_SECONDS)
    add(
      `Key frames come every ${Math.round(key_frame_seconds)} s: viewers wait longer, and see you later.`,
      'Set the keyframe interval to 2 s. In OBS: Settings → Output → Streaming.',
    )
  if (encoder.kilobits_per_second > MAX_KILOBITS)
    add(
      `${(encoder.kilobits_per_second / 1000).toFixed(1)} Mbit/s is more than many viewers can receive.`,
      'Viewers get exactly what you send. 6000 kbit/s are enough for 1080p.',
    )
  return problems
}
