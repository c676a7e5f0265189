import type { SeededRandom } from '../kit/random.ts'
import type { Colour } from './colour.ts'
import type { Sketch } from './picture.ts'

/** Far, middle and near. */
export type Lands = readonly [Colour, Colour, Colour]

/** What a land is drawn with. `lit` is for windows and sails, `glint` for reflections. */
interface Ground {
  readonly lands: Lands
  readonly horizon: number
  readonly lit: Colour
  readonly glint: Colour
  readonly snow: Colour
}

type DrawLand = (sketch: Sketch, ground: Ground, random: SeededRandom) => void

export const drawHills: DrawLand = (sketch, { lands, horizon }, random) => {
  for (const [depth, ink] of lands.entries()) {
    const top = horizon - 14 + depth * 22
    for (let x = random.between(-40, 20); x < sketch.width + 60; x += random.between(90, 130)) {
      const height = random.between(26, 46)
      sketch.ellipse(ink, x, top + height, random.between(90, 140), height)
    }
    sketch.rectangle(ink, 0, top + 26, sketch.width, sketch.height)
  }
  for (let left = random.between(3, 7); left > 0; left--)
    drawPine(sketch, lands[2], random.between(10, sketch.width - 10), horizon + 44, random.between(16, 30))
}

function drawPine(sketch: Sketch, ink: Colour, x: number, ground: number, size: number): void {
  sketch.rectangle(ink, x - size * 0.05, ground - size * 0.3, size * 0.1, size * 0.6)
  for (const [base, half, height] of [
    [0.15, 0.34, 0.55],
    [0.45, 0.26, 0.5],
    [0.75, 0.18, 0.45],
  ] as const) {
    const foot = ground - size * base
    sketch.polygon(ink, [
      [x - size * half, foot],
      [x + size * half, foot],
      [x, foot - size * height],
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

export const drawCity: DrawLand = (sketch, { lands, horizon, lit }, random) => {
  for (const [depth, ink] of lands.entries()) {
    for (let x = random.between(-10, 0); x < sketch.width; ) {
      const width = random.between(16, 34) + depth * 4
      const top = horizon + 30 + depth * 22 - random.between(46, 96)
      sketch.rectangle(ink, x, top, width, sketch.height)
      if (random.next() < 0.25) sketch.rectangle(ink, x + width / 2 - 0.7, top - 12, 1.4, 14)
      if (depth === 2) drawWindows(sketch, lit, { x, top, width }, random)
      x += width + random.between(0, 8)
    }
  }
}

interface Building {
  readonly x: number
  readonly top: number
  readonly width: number
}

function drawWindows(sketch: Sketch, ink: Colour, { x, top, width }: Building, random: SeededRandom): void {
  for (let y = top + 6; y < sketch.height - 6; y += 9)
    for (let at = x + 4; at + 5 < x + width; at += 6.5)
      if (random.next() < 0.22) sketch.rectangle(ink, at, y, 3, 4)
}

export const drawSea: DrawLand = (sketch, { lands, horizon, lit, glint }, random) => {
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
    sketch.ellipse(random.next() < 0.4 ? lit : glint, random.next() * sketch.width, y, half, 0.9)
  }
  drawBoat(sketch, lit, near, random.between(60, sketch.width - 60), horizon + 14)
}

function drawBoat(sketch: Sketch, sail: Colour, hull: Colour, x: number, deck: number): void {
  sketch.polygon(sail, [
    [x + 1, deck - 3],
    [x + 1, deck - 30],
    [x + 17, deck - 3],
  ])
  sketch.polygon(sail, [
    [x - 1, deck - 3],
    [x - 1, deck - 24],
    [x - 12, deck - 3],
  ])
  sketch.polygon(hull, [
    [x - 17, deck],
    [x + 20, deck],
    [x + 14, deck + 7],
    [x - 12, deck + 7],
  ])
}
