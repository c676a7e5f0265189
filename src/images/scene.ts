import type { SeededRandom } from '../kit/random.ts'
import { type Colour, colour, ramp } from './colour.ts'
import { drawCity, drawHills, drawPeaks, drawSea, type Lands } from './land.ts'
import { type Picture, Sketch } from './picture.ts'

const WIDTH = 320
const HEIGHT = 180
const SKY_BANDS = 4

interface Light {
  /** From the top down. */
  readonly sky: readonly Colour[]
  readonly sun: Colour
  readonly lands: Lands
  readonly isNight: boolean
}

/** A landscape: bands of sky, sun or moon, and land at three distances. */
export function drawScene(hue: number, random: SeededRandom): Picture {
  const { sky, sun, lands, isNight } = random.pick([day, dusk, night])(
    hue,
    hue + random.pick([-60, -40, 40, 60]),
  )
  const [top, ...bands] = sky as [Colour, ...Colour[]]
  const lowest = bands.at(-1) ?? top
  const horizon = random.between(108, 128)
  const sketch = new Sketch(WIDTH, HEIGHT, top)
  for (const [index, band] of bands.entries())
    sketch.rectangle(band, 0, ((index + 1) * horizon) / SKY_BANDS, WIDTH, HEIGHT)
  if (isNight) drawStars(sketch, sun, random)
  const x = random.between(60, WIDTH - 60)
  const y = isNight ? random.between(34, 60) : horizon - random.between(4, 56)
  const radius = random.between(16, 30)
  if (!isNight) sketch.circle(halfway(lowest, sun), x, y, radius * 1.5)
  sketch.circle(sun, x, y, radius)
  const ground = { lands, horizon, lit: sun, glint: lowest, snow: isNight ? halfway(lands[0], sun) : sun }
  random.pick([drawHills, drawPeaks, drawCity, drawSea])(sketch, ground, random)
  return sketch.finish()
}

function drawStars(sketch: Sketch, star: Colour, random: SeededRandom): void {
  for (let left = random.between(18, 30); left > 0; left--)
    sketch.circle(star, random.next() * WIDTH, random.next() * 90, 0.5 + random.next() * 0.7)
}

function halfway(a: Colour, b: Colour): Colour {
  return colour((a.l + b.l) / 2, (a.c + b.c) / 2, a.h)
}

/** The light of a scene, from the hue at the top of the sky and the hue at the horizon. */
type LightOf = (high: number, low: number) => Light

const day: LightOf = (high, low) => ({
  sky: ramp(colour(0.74, 0.11, high), colour(0.94, 0.05, low), SKY_BANDS),
  sun: colour(0.985, 0.04, 95),
  lands: landsBetween(colour(0.74, 0.1, (high + low) / 2), colour(0.36, 0.08, high + (high - low) / 2)),
  isNight: false,
})

const dusk: LightOf = (high, low) => ({
  sky: ramp(colour(0.46, 0.14, high), colour(0.84, 0.13, low + (low - high) / 2), SKY_BANDS),
  sun: colour(0.95, 0.1, low + (low - high)),
  lands: landsBetween(colour(0.52, 0.13, (high + low) / 2), colour(0.23, 0.07, high)),
  isNight: false,
})

const night: LightOf = (high, low) => ({
  sky: ramp(colour(0.2, 0.06, high), colour(0.42, 0.11, low), SKY_BANDS),
  sun: colour(0.95, 0.04, low),
  lands: landsBetween(colour(0.36, 0.09, (high + low) / 2), colour(0.14, 0.04, high)),
  isNight: true,
})

function landsBetween(far: Colour, near: Colour): Lands {
  const [, middle] = ramp(far, near, 3)
  return [far, middle ?? near, near]
}
