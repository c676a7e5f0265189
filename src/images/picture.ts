import { type Colour, toHex } from './colour.ts'

/** A point in the units of a picture, x to the right, y down. */
export type Point = readonly [x: number, y: number]

/** What a picture is made of. Polygons are convex, so that every row of pixels meets a shape in one span. */
export type Shape =
  | { readonly fill: string; readonly points: readonly Point[] }
  | {
      readonly fill: string
      readonly cx: number
      readonly cy: number
      readonly rx: number
      readonly ry: number
    }

/**
 * A picture without a size in pixels: shapes over a background, later ones in front. At another aspect ratio it is cut at
 * the edges, not stretched. Both formats are made from it and show the same.
 */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly background: string
  readonly shapes: readonly Shape[]
}

/** Two decimals, in both formats. */
const rounded = (value: number) => Math.round(value * 100) / 100

/** Collects the shapes of a picture. */
export class Sketch {
  readonly width: number
  readonly height: number
  readonly #background: string
  readonly #shapes: Shape[] = []

  constructor(width: number, height: number, background: Colour) {
    this.width = width
    this.height = height
    this.#background = toHex(background)
  }

  polygon(fill: Colour, points: readonly Point[]): void {
    this.#shapes.push({ fill: toHex(fill), points: points.map(([x, y]) => [rounded(x), rounded(y)]) })
  }

  rectangle(fill: Colour, x: number, y: number, width: number, height: number): void {
    this.polygon(fill, [
      [x, y],
      [x + width, y],
      [x + width, y + height],
      [x, y + height],
    ])
  }

  ellipse(fill: Colour, cx: number, cy: number, rx: number, ry: number): void {
    const [x, y, across, down] = [cx, cy, rx, ry].map(rounded) as [number, number, number, number]
    this.#shapes.push({ fill: toHex(fill), cx: x, cy: y, rx: across, ry: down })
  }

  circle(fill: Colour, cx: number, cy: number, radius: number): void {
    this.ellipse(fill, cx, cy, radius, radius)
  }

  /** The part of a disc between two angles in degrees, clockwise from the right; at most a half. */
  sector(fill: Colour, [cx, cy]: Point, radius: number, from: number, to: number): void {
    const steps = Math.ceil((to - from) / DEGREES_PER_STEP)
    const arc = Array.from({ length: steps + 1 }, (_, step): Point => {
      const angle = ((from + ((to - from) * step) / steps) * Math.PI) / 180
      return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)]
    })
    this.polygon(fill, [[cx, cy], ...arc])
  }

  finish(): Picture {
    const { width, height } = this
    return { width, height, background: this.#background, shapes: this.#shapes }
  }
}

/** Fine enough that corners cannot be seen at the largest size. */
const DEGREES_PER_STEP = 6
