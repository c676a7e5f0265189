/** Movements that end where they began. A moment is the part of a loop that has passed, 0 to 1. */
import type { Point } from '../picture.ts'

/** Between -1 and 1, so many times to and fro in a loop; 0 if nothing moves. `phase` is a part of its turn. */
export function sway(moment: number | undefined, times: number, phase = 0): number {
  return moment === undefined ? 0 : Math.sin(2 * Math.PI * (moment * times + phase))
}

/** The part of a way that is behind something that repeats it `times` in a loop, and began at `start`: 0 to 1. */
export function wayAt(moment: number, times: number, start = 0): number {
  const way = moment * times + start
  return way - Math.floor(way)
}

/** Whether a window is lit. Most of the lit ones stay so; some are lit for a part of the loop. `share` is that of the window. */
export function isLitAt(moment: number, share: number): boolean {
  if (share < 0.16) return true
  return share < 0.34 && wayAt(moment, 1, share * 97) < 0.4
}

/** Points around 0, turned by an angle in degrees and moved to a place. */
export function turn(points: readonly Point[], [x, y]: Point, degrees: number): Point[] {
  const angle = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
  return points.map(([px, py]) => [x + px * cos - py * sin, y + px * sin + py * cos])
}
