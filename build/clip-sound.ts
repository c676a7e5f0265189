import { SeededRandom } from '../src/kit/random.ts'

/** Of the sound of clips: 12 s are exactly 375 frames of AAC, so that a clip that is repeated stays in step with its pictures. */
export const SAMPLE_RATE = 32_000

/** A chord, as frequencies, and how much wind or surf there is. */
interface Mood {
  readonly chord: readonly number[]
  readonly noise: number
}

const MOODS: Readonly<Record<string, Mood>> = {
  harbour: { chord: [130.8, 196, 246.9, 329.6], noise: 1 },
  metropolis: { chord: [110, 164.8, 220, 261.6], noise: 0.35 },
  summit: { chord: [146.8, 220, 293.7, 370], noise: 0.6 },
  meadow: { chord: [174.6, 220, 261.6, 349.2], noise: 0.4 },
  aurora: { chord: [98, 146.8, 233.1, 293.7], noise: 0.7 },
  journey: { chord: [123.5, 185, 233.1, 277.2], noise: 0.5 },
}

/** Of full scale: background that nobody has to mute. */
const TONE_LEVEL = 0.02
const NOISE_LEVEL = 0.02

/**
 * A quiet sound, left and right by turns, that ends as it begins, so that no step is heard when it repeats: every frequency
 * fits the loop.
 */
export function loopedSound(name: string, seconds: number): Float64Array {
  const mood = MOODS[name]
  if (mood === undefined) throw new Error(`no sound for the scene ${name}`)
  const length = seconds * SAMPLE_RATE
  const hiss = loopedNoise(length)
  const samples = new Float64Array(length * 2)
  for (let at = 0; at < length; at++) {
    const wave = (turns: number, phase = 0) => Math.sin(2 * Math.PI * ((turns * at) / length + phase))
    for (const side of [0, 1]) {
      // Each side has a voice, slightly apart from the other.
      const voices = mood.chord.map((frequency, index) => {
        const swell = 0.6 + 0.4 * wave(1 + (index % 3), index / 4 + side / 8)
        return swell * wave(Math.round(frequency * seconds) + side * (3 + index))
      })
      const tone = voices.reduce((sum, voice) => sum + voice, 0)
      const gust = 0.45 + 0.35 * wave(3, side / 6) + 0.2 * wave(5)
      const noise = mood.noise * gust * (hiss[(at + (side * length) / 2) % length] as number)
      samples[at * 2 + side] = TONE_LEVEL * tone + NOISE_LEVEL * noise
    }
  }
  return samples
}

/** Soft noise. The filter runs twice around the loop: the second time it begins as it ends. */
function loopedNoise(length: number): Float64Array {
  const random = new SeededRandom(1)
  const white = Float64Array.from({ length }, () => random.next() * 2 - 1)
  const noise = new Float64Array(length)
  let [first, second] = [0, 0]
  for (let at = 0; at < 2 * length; at++) {
    first += 0.12 * ((white[at % length] as number) - first)
    second += 0.12 * (first - second)
    noise[at % length] = second * 6
  }
  return noise
}
