import type { SeededRandom } from '../../src/kit/random.ts'
import type { DiskEvent } from './recording.ts'

/** Share of crash points drawn uniformly. */
const ANYWHERE = 0.5
const NEAR = 2

/**
 * Crash points as numbers of completed events, ascending. Half of them are uniform; the others are next to syncs, which
 * acknowledgements depend on, and to truncations and directory operations.
 */
export function crashPoints(events: readonly DiskEvent[], count: number, random: SeededRandom): number[] {
  const decisive = [...events.entries()].filter(([, each]) => each.kind !== 'write').map(([index]) => index)
  return Array.from({ length: count }, () => {
    if (decisive.length === 0 || random.next() < ANYWHERE) return random.between(0, events.length)
    const point = random.pick(decisive) + random.between(-NEAR, NEAR)
    return Math.min(events.length, Math.max(0, point))
  }).toSorted((a, b) => a - b)
}
