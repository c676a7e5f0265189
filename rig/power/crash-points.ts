import type { SeededRandom } from '../../src/kit/random.ts'
import type { DiskEvent } from './recording.ts'

/** Of a hundred points, how many are drawn from all of the recording; the others are where things are decided. */
const ANYWHERE = 0.5
const NEAR = 2

/**
 * Where the power is lost: after how many events, in ascending order. Half of the points are anywhere. The others are close
 * to the end of a sync, where acknowledgements hang on it, and to truncations, creations, removals and renames.
 */
export function crashPoints(events: readonly DiskEvent[], count: number, random: SeededRandom): number[] {
  const decisive = [...events.entries()].filter(([, each]) => each.kind !== 'write').map(([index]) => index)
  return Array.from({ length: count }, () => {
    if (decisive.length === 0 || random.next() < ANYWHERE) return random.between(0, events.length)
    const point = random.pick(decisive) + random.between(-NEAR, NEAR)
    return Math.min(events.length, Math.max(0, point))
  }).toSorted((a, b) => a - b)
}
