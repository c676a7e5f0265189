import type { SeededRandom } from '../kit/random.ts'
import type { Colour } from './colour.ts'
import { isLitAt, sway, turn } from './moving/motion.ts'
import type { Point, Sketch } from './picture.ts'

/** Far, middle and near. */
export type Lands = readonly [Colour, Colour, Colour]

/** What a land is drawn with. `lit` is for windows and sails, `glint` for reflections. */
interface Ground {
  readonly lands: Lands
  readonly horizon: number
  readonly lit: Colour
  readonly glint: Colour
  readonly snow: Colour
  /** Of a loop, 0 to 1. Undefined: nothing moves. */
  readonly moment?: number | undefined
}

export type DrawLand = (sketch: Sketch, ground: Ground, random: SeededRandom) => void

export const drawHills: DrawLand = (sketch, { lands, horizon, moment }, random) => {
  for (const [depth, ink] of lands.entries()) {
    const top = horizon - 14 + depth * 22
    for (let x = random.between(-40, 20); x < sketch.width + 60; x += random.between(90, 130)) {
      const height = random.between(26, 46)
      sketch.ellipse(ink, x, top + height, random.between(90, 140), height)
    }
    sketch.rectangle(ink, 0, top + 26, sketch.width, sketch.height)
  }
  for (let left = random.between(3, 7); left > 0; left--) {
    const x = random.between(10, sketch.width - 10)
    const lean = sway(moment, 3, x / 160) * 0.05
    drawPine(sketch, lands[2], [x, horizon + 44], random.between(16, 30), lean)
  }
}

/** `lean`: how far its top is to the side, as a part of its size. */
export function drawPine(sketch: Sketch, ink: Colour, [x, ground]: Point, size: number, lean = 0): void {
  sketch.rectangle(ink, x - size * 0.05, ground - size * 0.3, size * 0.1, size * 0.6)
  for (const [base, half, height] of [
    [0.15, 0.34, 0.55],
    [0.45, 0.26, 0.5],
    [0.75, 0.18, 0.45],
  ] as const) {
    const foot = ground - size * base
    sketch.polygon(ink, [
      [x + size * (lean * base - half), foot],
      [x + size * (lean * base + half), foot],
      [x + size * lean * (base + height), foot - size * height],
    ])
  }
}

const MIN_SNOW_HEIGHT = 66
/** How far down a mountain the snow reaches, at its edges and in its middle. */
const SNOW = { edge: 0.2, middle: 0.29 } as const

export const drawPeaks: DrawLand = (sketch, { lands, horizon, snow }, random) => {
  for (const [depth, ink] of lands.entries()) {
    const foot = horizon + 16 + depth * 26
    for (let x = random.between(-20, 40); x < sketch.width + 50; x += random.between(60, 100)) {
      const height = random.between(46, 92) - depth * 16
      const half = (96 - depth * 14) * (0.6 + height / 160)
      const peak = x + random.between(-12, 12)
      const top = foot - height
      sketch.polygon(ink, [
        [x - half, foot],
        [x + half, foot],
        [peak, top],
      ])
      if (depth > 0 || height < MIN_SNOW_HEIGHT) continue
      sketch.polygon(snow, [
        [peak + (x - half - peak) * SNOW.edge, top + height * SNOW.edge],
        [peak, top + height * SNOW.middle],
        [peak + (x + half - peak) * SNOW.edge, top + height * SNOW.edge],
        [peak, top],
      ])
    }
    sketch.rectangle(ink, 0, foot - 1, sketch.width, sketch.height)
  }
}

export const drawCity: DrawLand = (sketch, { lands, horizon, lit, moment }, random) => {
  for (const [depth, ink] of lands.entries()) {
    for (let x = random.between(-10, 0); x < sketch.width; ) {
      const width = random.between(16, 34) + depth * 4
      const top = horizon + 30 + depth * 22 - random.between(46, 96)
      sketch.rectangle(ink, x, top, width, sketch.height)
      if (random.next() < 0.25) sketch.rectangle(ink, x + width / 2 - 0.7, top - 12, 1.4, 14)
      if (depth === 2) drawWindows(sketch, lit, { x, top, width, moment }, random)
      x += width + random.between(0, 8)
    }
  }
}

interface Building {
  readonly x: number
  readonly top: number
  readonly width: number
  readonly moment: number | undefined
}

function drawWindows(
  sketch: Sketch,
  ink: Colour,
  { x, top, width, moment }: Building,
  random: SeededRandom,
): void {
  for (let y = top + 6; y < sketch.height - 6; y += 9)
    for (let at = x + 4; at + 5 < x + width; at += 6.5) {
      const share = random.next()
      if (moment === undefined ? share < 0.22 : isLitAt(moment, share)) sketch.rectangle(ink, at, y, 3, 4)
    }
}

export const drawSea: DrawLand = (sketch, { lands, horizon, lit, glint, moment }, random) => {
  const [far, middle, near] = lands
  const island = random.between(40, sketch.width - 40)
  sketch.ellipse(middle, island, horizon + 4, random.between(40, 80), random.between(14, 30))
  sketch.ellipse(
    middle,
    island + random.between(-60, 60),
    horizon + 4,
    random.between(30, 60),
    random.between(8, 16),
  )
  sketch.rectangle(far, 0, horizon, sketch.width, sketch.height)
  sketch.rectangle(middle, 0, horizon + 22, sketch.width, sketch.height)
  sketch.rectangle(near, 0, horizon + 46, sketch.width, sketch.height)
  for (let left = 14; left > 0; left--) {
    const y = horizon + 3 + random.next() * 54
    const half = 6 + random.next() * 22
    const ink = random.next() < 0.4 ? lit : glint
    const x = random.next() * sketch.width + 12 * sway(moment, 1 + (left % 2), left / 5)
    sketch.ellipse(ink, x, y, half * (1 + 0.35 * sway(moment, 4, left / 7)), 0.9)
  }
  drawBoat(sketch, lit, near, random.between(60, sketch.width - 60), horizon + 14, moment)
}

/** It rolls, rises and sinks with the waves, and sails to and fro. */
function drawBoat(
  sketch: Sketch,
  sail: Colour,
  hull: Colour,
  x: number,
  deck: number,
  moment?: number,
): void {
  const at: Point = [x + 26 * sway(moment, 1), deck + 1.2 * sway(moment, 5)]
  const roll = 4 * sway(moment, 3)
  const part = (ink: Colour, points: readonly Point[]) =>
    sketch.polygon(
      ink,
      moment === undefined ? points.map(([px, py]) => [x + px, deck + py]) : turn(points, at, roll),
    )
  part(sail, [
    [1, -3],
    [1, -30],
    [17, -3],
  ])
  part(sail, [
    [-1, -3],
    [-1, -24],
    [-12, -3],
  ])
  part(hull, [
    [-17, 0],
    [20, 0],
    [14, 7],
    [-12, 7],
  ])
}
