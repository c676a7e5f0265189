import type { Colour } from './colour.ts'
import type { Point, Sketch } from './picture.ts'

/** A shape in a square. `turns` is a number of quarter turns: of the corner or the side that the shape starts from. */
export interface Tile {
  readonly form: 'square' | 'disc' | 'quarter' | 'half' | 'triangle'
  readonly turns: number
}

interface Square {
  readonly x: number
  readonly y: number
  readonly size: number
}

export function drawTile(sketch: Sketch, ink: Colour, { x, y, size }: Square, { form, turns }: Tile): void {
  /** A corner, clockwise from the upper left; with 0.5, the middle of the side behind it. */
  const at = (corner: number): Point => {
    const [a, b] = [CORNERS[Math.floor(corner) % 4], CORNERS[Math.ceil(corner) % 4]] as [Point, Point]
    return [x + (size * (a[0] + b[0])) / 2, y + (size * (a[1] + b[1])) / 2]
  }
  const angle = turns * 90
  switch (form) {
    case 'square':
      sketch.rectangle(ink, x, y, size, size)
      break
    case 'disc':
      sketch.circle(ink, x + size / 2, y + size / 2, size * 0.42)
      break
    case 'quarter':
      sketch.sector(ink, at(turns), size, angle, angle + 90)
      break
    case 'half':
      sketch.sector(ink, at(turns + 0.5), size / 2, angle, angle + 180)
      break
    case 'triangle':
      sketch.polygon(ink, [at(turns), at(turns + 1), at(turns + 3)])
  }
}

const CORNERS: readonly Point[] = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
]

/** Left and right exchanged. Corners 0 and 1 change places, and 2 and 3; of the sides only the left and the right one. */
export function mirrored({ form, turns }: Tile): Tile {
  return { form, turns: form === 'half' ? (4 - turns) % 4 : turns ^ 1 }
}
