/** The logo on a ground that fills the square, for home screens and tabs. Systems cut it to a circle or another form. */
import { STRANDS, STROKE_WIDTH, type Strand } from '../kit/mark.ts'
import { colour } from './colour.ts'
import { type Picture, type Point, Sketch } from './picture.ts'

const SIZE = 512
/** In a circle of two fifths of the side, nothing is cut off. */
const SCALE = (SIZE * 0.66) / 24
const GROUND = colour(0.511, 0.23, 277)
const WHITE = colour(1, 0, 0)
const STEPS_PER_CURVE = 24

export function drawAppIcon(): Picture {
  const sketch = new Sketch(SIZE, SIZE, GROUND)
  for (const strand of STRANDS) drawStrand(sketch, strand)
  return sketch.finish()
}

/** Quadrilaterals that share their edges, and a round end on both sides. */
function drawStrand(sketch: Sketch, strand: Strand): void {
  const points = listPoints(strand)
  const radius = (STROKE_WIDTH * SCALE) / 2
  const edges = points.map((point, index): readonly [Point, Point] => {
    const [x, y] = point
    const [beforeX, beforeY] = points[index - 1] ?? point
    const [afterX, afterY] = points[index + 1] ?? point
    const length = Math.hypot(afterX - beforeX, afterY - beforeY)
    const [across, down] = [(-(afterY - beforeY) / length) * radius, ((afterX - beforeX) / length) * radius]
    return [
      [x + across, y + down],
      [x - across, y - down],
    ]
  })
  for (const [index, [left, right]] of edges.entries()) {
    const next = edges[index + 1]
    if (next !== undefined) sketch.polygon(WHITE, [left, next[0], next[1], right])
  }
  for (const [x, y] of [points[0], points.at(-1)].filter(each => each !== undefined))
    sketch.circle(WHITE, x, y, radius)
}

/** Points along the curves of a strand, in the units of the picture. */
function listPoints([start, ...rest]: Strand): Point[] {
  const points: Point[] = [start]
  let from: Point = start
  for (let at = 0; at + 2 < rest.length; at += 3) {
    const [first, second, to] = rest.slice(at, at + 3) as [Point, Point, Point]
    for (let step = 1; step <= STEPS_PER_CURVE; step++) {
      const t = step / STEPS_PER_CURVE
      const between = (a: number, b: number, c: number, d: number) =>
        a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t ** 2 * (1 - t) + d * t ** 3
      points.push([
        between(from[0], first[0], second[0], to[0]),
        between(from[1], first[1], second[1], to[1]),
      ])
    }
    from = to
  }
  return points.map(([x, y]) => [SIZE / 2 + (x - 12) * SCALE, SIZE / 2 + (y - 12) * SCALE])
}
