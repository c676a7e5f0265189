/** What moves through landscapes. Everything ends a loop where it began it. */
import { type Colour, colour } from '../colour.ts'
import { type DrawLand, drawPine } from '../land.ts'
import type { Point, Sketch } from '../picture.ts'
import { type DrawMoving, halfway, type Light } from '../scene.ts'
import { sway, turn, wayAt } from './motion.ts'

/** A colour between those of the scene, so that additions look as if they belong to it. */
const cloudColour = ({ sky, sun }: Light): Colour => halfway(sky.at(-1) as Colour, sun)
const nearest = ({ lands }: Light): Colour => lands[2]

/** Something that crosses the picture from left to right, and appears again when it has left. */
const crossing = (sketch: Sketch, way: number, width: number): number =>
  (sketch.width + width) * way - width / 2

const CLOUDS = [
  { y: 24, size: 1.25, start: 0.08 },
  { y: 44, size: 0.8, start: 0.36 },
  { y: 16, size: 0.7, start: 0.61 },
  { y: 60, size: 1, start: 0.83 },
] as const

export const drawClouds: DrawMoving = (sketch, light, moment) => {
  const ink = cloudColour(light)
  for (const { y, size, start } of CLOUDS) {
    const x = crossing(sketch, wayAt(moment, 1, start), 90)
    sketch.ellipse(ink, x, y, 30 * size, 5 * size)
    sketch.circle(ink, x - 9 * size, y - 4 * size, 8 * size)
    sketch.circle(ink, x + 6 * size, y - 6 * size, 10 * size)
  }
}

const BIRDS: readonly Point[] = [
  [0, 0],
  [-13, 5],
  [-12, -7],
  [-27, 9],
  [-30, -3],
]

/** A flock that crosses the picture. A bird is two wings. */
export const drawBirds: DrawMoving = (sketch, light, moment) => {
  const flock = crossing(sketch, wayAt(moment, 1, 0.55), 140) + 20
  for (const [index, [dx, dy]] of BIRDS.entries()) {
    const [x, y] = [flock + dx, 62 + dy + 5 * sway(moment, 2, index / 9)]
    const lift = 3 * sway(moment, 18, index / 5) - 0.6
    for (const side of [-1, 1])
      sketch.polygon(nearest(light), [
        [x, y],
        [x, y + 1.3],
        [x + side * 6.5, y - lift],
      ])
  }
}

export const drawBalloon: DrawMoving = (sketch, light, moment) => {
  const [x, y] = [crossing(sketch, wayAt(moment, 1, 0.3), 60), 48 + 9 * sway(moment, 2)]
  const [skin, stripe] = [light.lands[1], light.sun]
  sketch.polygon(skin, [
    [x - 13, y + 8],
    [x + 13, y + 8],
    [x + 4, y + 24],
    [x - 4, y + 24],
  ])
  sketch.circle(skin, x, y, 16)
  sketch.ellipse(stripe, x, y, 9, 16)
  sketch.ellipse(skin, x, y, 4, 16)
  sketch.rectangle(nearest(light), x - 3.5, y + 29, 7, 5)
  for (const side of [-1, 1])
    sketch.polygon(nearest(light), [
      [x + side * 3.6, y + 24],
      [x + side * 3, y + 24],
      [x + side * 2.6, y + 29],
      [x + side * 3.2, y + 29],
    ])
}

const MILLS = [
  { x: 232, size: 1, turns: 2 },
  { x: 274, size: 0.62, turns: 3 },
] as const

export const drawMills: DrawMoving = (sketch, light, moment, horizon) => {
  const ink = light.lands[1]
  for (const { x, size, turns } of MILLS) {
    const hub: Point = [x, horizon - 22 - 26 * size]
    sketch.polygon(ink, [
      [x - 1.6 * size, hub[1]],
      [x + 1.6 * size, hub[1]],
      [x + 3.4 * size, horizon + 20],
      [x - 3.4 * size, horizon + 20],
    ])
    for (const blade of [0, 120, 240]) {
      const points: readonly Point[] = [
        [0, -1.4 * size],
        [10 * size, -2.2 * size],
        [34 * size, 0],
        [0, 1.4 * size],
      ]
      sketch.polygon(light.sun, turn(points, hub, blade + 360 * turns * moment))
    }
    sketch.circle(ink, ...hub, 2.4 * size)
  }
}

const CURTAINS = [
  { top: 20, hue: 0, start: 0 },
  { top: 44, hue: 25, start: 0.4 },
] as const
const STRIP = 8

/** Two curtains of light, each bright at its lower edge: strips side by side that wave. */
export const drawAurora: DrawMoving = (sketch, { sky }, moment) => {
  const { h } = sky.at(-1) as Colour
  for (const { top, hue, start } of CURTAINS) {
    const foot = (x: number) =>
      top + 9 * sway(moment, 1, x / 300 + start) + 4 * sway(moment, -1, x / 110) + (start - 0.3) * x * 0.05
    const height = (x: number) => 15 + 6 * sway(moment, 1, x / 90 + start) + 3 * sway(moment, -1, x / 47)
    for (const [ink, share] of [
      [colour(0.5, 0.1, h + hue), 1],
      [colour(0.72, 0.14, h + hue), 0.42],
      [colour(0.9, 0.1, h + hue), 0.14],
    ] as const)
      for (let x = 0; x < sketch.width; x += STRIP)
        sketch.polygon(ink, [
          [x, foot(x)],
          [x + STRIP, foot(x + STRIP)],
          [x + STRIP, foot(x + STRIP) - height(x + STRIP) * share],
          [x, foot(x) - height(x) * share],
        ])
  }
}

const FLAKES = 14

export const drawSnow: DrawMoving = (sketch, { sun }, moment) => {
  for (let flake = 0; flake < FLAKES; flake++) {
    const near = flake % 3
    const y = (sketch.height + 8) * wayAt(moment, 1 + (near >> 1), flake * 0.618) - 4
    const x = ((flake * 83.7) % sketch.width) + 9 * sway(moment, 2, flake / 7)
    sketch.circle(sun, x, y, 0.6 + near * 0.45)
  }
}

const TRAIN = { cars: 6, length: 46, height: 13, gap: 2.5 } as const

/** A train with lit windows on a viaduct in front of a city. */
export const drawTrain: DrawMoving = (sketch, light, moment) => {
  const [ink, lit] = [nearest(light), light.sun]
  const rails = sketch.height - 22
  const train = TRAIN.cars * (TRAIN.length + TRAIN.gap)
  const start = (sketch.width + train) * wayAt(moment, 1, 0.3) - train
  for (let car = 0; car < TRAIN.cars; car++) {
    const x = start + car * (TRAIN.length + TRAIN.gap)
    sketch.rectangle(light.lands[1], x, rails - TRAIN.height, TRAIN.length, TRAIN.height)
    for (let window = 0; window < 5; window++)
      sketch.rectangle(lit, x + 4 + window * 8, rails - TRAIN.height + 3, 5.5, 4.5)
  }
  sketch.rectangle(ink, 0, rails, sketch.width, 5)
  sketch.rectangle(light.lands[1], 0, rails, sketch.width, 1.2)
  for (let x = 18; x < sketch.width; x += 64) sketch.rectangle(ink, x, rails, 9, 40)
}

/** Its lights blink, one after the other. */
export const drawPlane: DrawMoving = (sketch, light, moment) => {
  const way = wayAt(moment, 1, 0.7)
  const [x, y] = [crossing(sketch, way, 40), 44 - 22 * way]
  sketch.polygon(
    light.lands[0],
    turn(
      [
        [-8, 0],
        [-6, -1.2],
        [7, -1],
        [9, 0.4],
        [-7, 1.2],
      ],
      [x, y],
      -4,
    ),
  )
  sketch.polygon(
    light.lands[0],
    turn(
      [
        [-8, 0],
        [-10, -4.5],
        [-8, -4.5],
        [-5, -0.6],
      ],
      [x, y],
      -4,
    ),
  )
  sketch.polygon(
    light.lands[0],
    turn(
      [
        [1, 0],
        [-4, 4.5],
        [-2.4, 4.5],
        [4, 0],
      ],
      [x, y],
      -4,
    ),
  )
  if (wayAt(moment, 12) < 0.35) sketch.circle(light.sun, x - 3, y + 4.2, 1)
  if (wayAt(moment, 12, 0.5) < 0.35) sketch.circle(light.sun, x - 9, y - 4.6, 0.9)
}

/** What passes a traveller, from far to near: how much of it there is, in units, before it repeats. */
const PASSING = [
  { length: 0, hill: 40, tree: 0, ground: 0 },
  { length: 480, hill: 34, tree: 24, ground: 22 },
  { length: 960, hill: 30, tree: 56, ground: 56 },
] as const
const HILLS = 6
const TREES = 9

/** Hills and trees as seen from a train. */
export const drawPassingLand: DrawLand = (sketch, { lands, horizon, moment = 0 }) => {
  for (const [depth, { length, hill, tree, ground }] of PASSING.entries()) {
    const ink = lands[depth] as Colour
    const top = horizon - 14 + depth * 22
    // Everything enters at the right edge and leaves at the left one, with room for the widest.
    const place = (part: number) =>
      length === 0 ? sketch.width * part : length * wayAt(-moment, 1, part) - 150
    for (let at = 0; at < HILLS; at++) {
      const height = hill * (0.8 + ((at * 0.618) % 1) * 0.5)
      sketch.ellipse(ink, place(at / HILLS), top + height, length === 0 ? 90 : length / 5, height)
    }
    sketch.rectangle(ink, 0, top + 26, sketch.width, sketch.height)
    for (let at = 0; at < TREES && tree > 0; at++) {
      const size = tree * (0.75 + ((at * 0.618) % 1) * 0.5)
      drawPine(sketch, ink, [place((at + 0.5 * ((at * 0.37) % 1)) / TREES), horizon + ground], size)
    }
  }
}
