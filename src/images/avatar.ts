import type { SeededRandom } from '../kit/random.ts'
import { colour } from './colour.ts'
import { type Picture, Sketch } from './picture.ts'
import { drawTile, mirrored, type Tile } from './tile.ts'

const SIZE = 300
const CELLS = 5
const MIDDLE = 2
const MARGIN = 30
const CELL = (SIZE - 2 * MARGIN) / CELLS

/** So many of the fifteen cells up to the middle column are filled: with fewer a picture looks empty, with more like a wall. */
const FILLED = [9, 11] as const

const FORMS = [
  'square',
  'square',
  'square',
  'quarter',
  'quarter',
  'quarter',
  'triangle',
  'half',
  'disc',
] as const

/** For the middle column: each is symmetric. */
const SYMMETRIC: readonly Tile[] = [
  { form: 'square', turns: 0 },
  { form: 'square', turns: 0 },
  { form: 'disc', turns: 0 },
  { form: 'half', turns: 0 },
  { form: 'half', turns: 2 },
]

/** A block pattern that is symmetric to the middle column. */
export function drawAvatar(hue: number, random: SeededRandom): Picture {
  const accent = hue + random.pick([-70, -45, 45, 70, 150])
  const isDark = random.next() < 0.4
  const [ground, main, ...others] = isDark
    ? [colour(0.27, 0.07, hue), colour(0.8, 0.14, hue), colour(0.66, 0.16, hue), colour(0.86, 0.13, accent)]
    : [colour(0.95, 0.03, hue), colour(0.58, 0.17, hue), colour(0.42, 0.13, hue), colour(0.7, 0.17, accent)]
  const sketch = new Sketch(SIZE, SIZE, ground)
  for (const cell of chooseCells(random).slice(0, random.between(...FILLED))) {
    const column = Math.floor(cell / CELLS)
    const tile: Tile =
      column === MIDDLE ? random.pick(SYMMETRIC) : { form: random.pick(FORMS), turns: random.between(0, 3) }
    const ink = random.pick([main, main, ...others])
    const square = (at: number) => ({
      x: MARGIN + at * CELL,
      y: MARGIN + (cell % CELLS) * CELL,
      size: CELL,
    })
    drawTile(sketch, ink, square(column), tile)
    if (column !== MIDDLE) drawTile(sketch, ink, square(CELLS - 1 - column), mirrored(tile))
  }
  return sketch.finish()
}

/** The cells up to the middle column, column by column, in any order. */
function chooseCells(random: SeededRandom): number[] {
  const order = Array.from({ length: CELLS * (MIDDLE + 1) }, (_, cell) => ({ cell, rank: random.next() }))
  return order.sort((a, b) => a.rank - b.rank).map(({ cell }) => cell)
}
