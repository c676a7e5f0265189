import type { SeededRandom } from '../kit/random.ts'
import { type Colour, colour } from './colour.ts'
import { type Picture, type Point, Sketch } from './picture.ts'
import { drawTile } from './tile.ts'

const WIDTH = 285
const HEIGHT = 380

/** A cover of bands and large shapes. */
export function drawPoster(hue: number, random: SeededRandom): Picture {
  const accent = hue + random.pick([-120, -60, 60, 120, 180])
  const inks = [
    colour(0.24, 0.06, hue),
    colour(0.42, 0.13, hue),
    colour(0.6, 0.17, hue),
    colour(0.9, 0.05, hue),
    colour(0.78, 0.15, accent),
    colour(0.62, 0.18, accent),
  ] as const
  return random.pick([drawRays, drawTiles, drawArches])(inks, random)
}

type Inks = readonly [Colour, Colour, Colour, Colour, Colour, Colour]
type DrawCover = (inks: Inks, random: SeededRandom) => Picture

const drawRays: DrawCover = ([dark, deep, strong, light, bright, warm], random) => {
  const sketch = new Sketch(WIDTH, HEIGHT, deep)
  const [x, y] = [WIDTH / 2, random.between(140, 190)]
  const rays = random.between(7, 12)
  const turn = random.next() * 360
  for (let ray = 0; ray < rays; ray++) {
    const from = turn + (ray * 360) / rays
    sketch.sector(strong, [x, y], 520, from, from + 180 / rays)
  }
  sketch.circle(dark, x, y, 104)
  const sides = random.between(3, 8)
  const spin = random.pick([-90, -90 + 180 / sides])
  for (const [ink, radius] of [
    [bright, 88],
    [dark, 70],
    [light, 60],
    [warm, 34],
  ] as const)
    sketch.polygon(ink, regular(sides, x, y, radius, spin))
  sketch.rectangle(dark, 0, HEIGHT - 74, WIDTH, 74)
  sketch.rectangle(bright, 0, HEIGHT - 74, WIDTH, 6)
  drawTitle(sketch, light, warm, random)
  return sketch.finish()
}

/** Bars where a cover has its title. */
function drawTitle(sketch: Sketch, light: Colour, warm: Colour, random: SeededRandom): void {
  let x = 24
  for (let words = random.between(2, 3); words > 0; words--) {
    const width = random.between(34, 80)
    if (x + width > WIDTH - 24) break
    sketch.rectangle(light, x, HEIGHT - 50, width, 12)
    x += width + 10
  }
  sketch.rectangle(warm, 24, HEIGHT - 28, random.between(60, 140), 6)
}

function regular(sides: number, x: number, y: number, radius: number, from: number): Point[] {
  return Array.from({ length: sides }, (_, side) => {
    const angle = ((from + (side * 360) / sides) * Math.PI) / 180
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
}

const FORMS = ['quarter', 'quarter', 'half', 'triangle', 'disc'] as const

const drawTiles: DrawCover = (inks, random) => {
  const size = WIDTH / 3
  const sketch = new Sketch(WIDTH, HEIGHT, inks[0])
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 3; column++) {
      const square = { x: column * size, y: row * size, size }
      const ground = random.pick(inks)
      const others = inks.filter(ink => ink !== ground)
      drawTile(sketch, ground, square, { form: 'square', turns: 0 })
      drawTile(sketch, random.pick(others), square, { form: random.pick(FORMS), turns: random.between(0, 3) })
    }
  }
  return sketch.finish()
}

const drawArches: DrawCover = ([dark, deep, strong, light, bright, warm], random) => {
  const sketch = new Sketch(WIDTH, HEIGHT, random.pick([light, dark]))
  const x = WIDTH / 2 + random.pick([-60, 0, 60])
  const ground = random.between(262, 300)
  const order = random.pick([
    [deep, strong, bright, light],
    [warm, bright, strong, deep],
    [strong, bright, warm, deep],
  ])
  for (const [index, ink] of order.entries()) sketch.circle(ink, x, ground, 170 - index * 38)
  sketch.circle(bright, WIDTH - x + random.pick([-40, 40]), 62, 26)
  sketch.rectangle(deep, 0, ground, WIDTH, HEIGHT)
  sketch.rectangle(dark, 0, ground + 40, WIDTH, HEIGHT)
  drawTitle(sketch, light, warm, random)
  return sketch.finish()
}
