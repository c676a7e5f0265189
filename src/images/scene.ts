import { SeededRandom } from '../kit/random.ts'
import { type Colour, colour, ramp } from './colour.ts'
import { type DrawLand, drawCity, drawHills, drawPeaks, drawSea, type Lands } from './land.ts'
import { sway } from './moving/motion.ts'
import { type Picture, Sketch } from './picture.ts'

const WIDTH = 320
const HEIGHT = 180
const SKY_BANDS = 4

export interface Light {
  /** From the top down. */
  readonly sky: readonly Colour[]
  readonly sun: Colour
  readonly lands: Lands
  readonly isNight: boolean
}

/** A landscape: bands of sky, sun or moon, and land at three distances. */
export function drawScene(hue: number, random: SeededRandom): Picture {
  const light = random.pick([day, dusk, night])(hue, hue + random.pick([-60, -40, 40, 60]))
  const sketch = new Sketch(WIDTH, HEIGHT, light.sky[0] as Colour)
  const horizon = drawSky(sketch, light, random)
  random.pick([drawHills, drawPeaks, drawCity, drawSea])(sketch, groundIn(light, horizon), random)
  return sketch.finish()
}

/** What a landscape that moves consists of. Both lists of additions draw on what is there before. */
export interface MovingScene {
  readonly light: Light
  readonly land: DrawLand
  readonly seed: number
  /** In the sky, behind the land. */
  readonly above: readonly DrawMoving[]
  /** In front of everything. */
  readonly front: readonly DrawMoving[]
}

/** Draws something that moves: `moment` is the part of the loop that has passed. */
export type DrawMoving = (sketch: Sketch, light: Light, moment: number, horizon: number) => void

/** A landscape at a moment of its loop, 0 to 1. */
export function drawMovingScene({ light, land, seed, above, front }: MovingScene, moment: number): Picture {
  const random = new SeededRandom(seed)
  const sketch = new Sketch(WIDTH, HEIGHT, light.sky[0] as Colour)
  const horizon = drawSky(sketch, light, random, moment)
  for (const draw of above) draw(sketch, light, moment, horizon)
  land(sketch, { ...groundIn(light, horizon), moment }, random)
  for (const draw of front) draw(sketch, light, moment, horizon)
  return sketch.finish()
}

/** Returns the height of the horizon. */
function drawSky(
  sketch: Sketch,
  { sky, sun, isNight }: Light,
  random: SeededRandom,
  moment?: number,
): number {
  const lowest = sky.at(-1) as Colour
  const horizon = random.between(108, 128)
  for (const [index, band] of sky.slice(1).entries())
    sketch.rectangle(band, 0, ((index + 1) * horizon) / SKY_BANDS, WIDTH, HEIGHT)
  if (isNight) drawStars(sketch, sun, random, moment)
  const x = random.between(60, WIDTH - 60)
  const y = isNight ? random.between(34, 60) : horizon - random.between(4, 56)
  const radius = random.between(16, 30)
  if (!isNight) sketch.circle(halfway(lowest, sun), x, y, radius * (1.5 + 0.06 * sway(moment, 2)))
  sketch.circle(sun, x, y, radius)
  return horizon
}

function groundIn({ sky, sun, lands, isNight }: Light, horizon: number) {
  const snow = isNight ? halfway(lands[0], sun) : sun
  return { lands, horizon, lit: sun, glint: sky.at(-1) as Colour, snow }
}

function drawStars(sketch: Sketch, star: Colour, random: SeededRandom, moment?: number): void {
  for (let left = random.between(18, 30); left > 0; left--) {
    const [x, y] = [random.next() * WIDTH, random.next() * 90]
    sketch.circle(star, x, y, (0.5 + random.next() * 0.7) * (1 + 0.4 * sway(moment, 4, left / 7)))
  }
}

export function halfway(a: Colour, b: Colour): Colour {
  return colour((a.l + b.l) / 2, (a.c + b.c) / 2, a.h)
}

/** The light of a scene, from the hue at the top of the sky and the hue at the horizon. */
type LightOf = (high: number, low: number) => Light

export const day: LightOf = (high, low) => ({
  sky: ramp(colour(0.74, 0.11, high), colour(0.94, 0.05, low), SKY_BANDS),
  sun: colour(0.985, 0.04, 95),
  lands: landsBetween(colour(0.74, 0.1, (high + low) / 2), colour(0.36, 0.08, high + (high - low) / 2)),
  isNight: false,
})

export const dusk: LightOf = (high, low) => ({
  sky: ramp(colour(0.46, 0.14, high), colour(0.84, 0.13, low + (low - high) / 2), SKY_BANDS),
  sun: colour(0.95, 0.1, low + (low - high)),
  lands: landsBetween(colour(0.52, 0.13, (high + low) / 2), colour(0.23, 0.07, high)),
  isNight: false,
})

export const night: LightOf = (high, low) => ({
  sky: ramp(colour(0.2, 0.06, high), colour(0.42, 0.11, low), SKY_BANDS),
  sun: colour(0.95, 0.04, low),
  lands: landsBetween(colour(0.36, 0.09, (high + low) / 2), colour(0.14, 0.04, high)),
  isNight: true,
})

function landsBetween(far: Colour, near: Colour): Lands {
  const [, middle] = ramp(far, near, 3)
  return [far, middle ?? near, near]
}
