import type { FrameRateName } from '../../contract/resources/marker-file.ts'

/**
 * Frames per second as a fraction, so that positions are exact however long a video is. Timecode counts in a nominal whole
 * number of frames per second. Drop-frame timecode skips numbers, not frames: the first of every minute that is not a
 * multiple of ten, so that it stays close to the time of day.
 */
export interface FrameRate {
  readonly numerator: number
  readonly denominator: number
  readonly nominal: number
  /** Numbers that drop-frame timecode skips per minute; 0: none. */
  readonly dropped: number
}

const whole = (nominal: number): FrameRate => ({ numerator: nominal, denominator: 1, nominal, dropped: 0 })
const slowed = (nominal: number, dropped: number): FrameRate => ({
  numerator: nominal * 1000,
  denominator: 1001,
  nominal,
  dropped,
})

export const FRAME_RATES: Readonly<Record<FrameRateName, FrameRate>> = {
  '23.976': slowed(24, 0),
  '24': whole(24),
  '25': whole(25),
  '29.97': slowed(30, 2),
  '30': whole(30),
  '50': whole(50),
  '59.94': slowed(60, 4),
  '60': whole(60),
}

/** The frame that is nearest to a position. */
export function frameAt(seconds: number, { numerator, denominator }: FrameRate): number {
  return Math.round((seconds * numerator) / denominator)
}

/** Frames of an hour of timecode. */
export function framesPerHour({ nominal, dropped }: FrameRate): number {
  return nominal * 3600 - dropped * 54
}

/** `01:02:03:04`; drop-frame `01:02:03;04`. */
export function timecode(frame: number, rate: FrameRate): string {
  const { nominal, dropped } = rate
  const number = frame + skippedBefore(frame, rate)
  const parts = [nominal * 3600, nominal * 60, nominal].map((size, level) =>
    Math.floor(level === 0 ? number / size : (number / size) % 60),
  )
  const [time, frames] = [parts.map(twoDigits).join(':'), twoDigits(number % nominal)]
  return `${time}${dropped > 0 ? ';' : ':'}${frames}`
}

function skippedBefore(frame: number, { nominal, dropped }: FrameRate): number {
  if (dropped === 0) return 0
  const firstMinute = nominal * 60
  const tenMinutes = nominal * 600 - dropped * 9
  const rest = frame % tenMinutes
  const minutes = rest < firstMinute ? 0 : 1 + Math.floor((rest - firstMinute) / (firstMinute - dropped))
  return dropped * (Math.floor(frame / tenMinutes) * 9 + minutes)
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
