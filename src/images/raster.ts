/**
 * Pictures as rows of palette indices. Edges are smooth although the format has a palette: beside the colours of the picture,
 * the palette has steps between every two of them, and a pixel that a shape covers in part becomes one of those steps. The inside of a shape is filled with one native call per row, which makes the work nearly
 * independent of the number of shapes.
 */
import { must } from '../kit/must.ts'
import type { Picture, Shape } from './picture.ts'

/** A picture in pixels: for each row a zero byte, which is the filter type that PNG requires, and a byte per pixel. */
export interface Raster {
  readonly width: number
  readonly height: number
  /** Three bytes per colour. */
  readonly palette: Uint8Array
  readonly rows: Uint8Array
}

/** About a millisecond. */
const PIXELS_PER_SLICE = 512 * 1024

/** Lines per row of pixels on which the coverage is measured. */
const LINES = 4

/** `pause` is awaited after every slice of a large picture. */
export async function rasterize(
  picture: Picture,
  width: number,
  height: number,
  pause: () => Promise<void>,
): Promise<Raster> {
  const palette = new Palette(picture)
  const rows = new Uint8Array(height * (width + 1))
  const rowsPerSlice = Math.floor(PIXELS_PER_SLICE / width)
  const scale = Math.max(width / picture.width, height / picture.height)
  const left = (width - picture.width * scale) / 2
  const top = (height - picture.height * scale) / 2
  const outlines = picture.shapes.map(shape => ({
    outline: new Outline(shape, scale, left, top),
    colour: palette.indexOf(shape.fill),
  }))
  for (let y = 0; y < height; y++) {
    if (y > 0 && y % rowsPerSlice === 0) await pause()
    const start = y * (width + 1) + 1
    const row = rows.subarray(start, start + width)
    for (const { outline, colour } of outlines) {
      if (outline.top < y + 1 && outline.bottom > y) paint(row, outline.spans(y), colour, palette)
    }
  }
  return { width, height, palette: palette.bytes, rows }
}

/** The span of a shape on each line of a row; a line that it does not meet has a span of no length. */
interface Spans {
  readonly from: Float64Array
  readonly to: Float64Array
}

function paint(row: Uint8Array, { from, to }: Spans, colour: number, palette: Palette): void {
  let [outerFrom, innerFrom, innerTo, outerTo] = [row.length, 0, row.length, 0]
  for (let line = 0; line < LINES; line++) {
    const start = from[line] as number
    const end = to[line] as number
    if (start < end) {
      outerFrom = Math.min(outerFrom, Math.floor(start))
      outerTo = Math.max(outerTo, Math.ceil(end))
    }
    innerFrom = Math.max(innerFrom, Math.ceil(start))
    innerTo = Math.min(innerTo, Math.floor(end))
  }
  outerFrom = Math.max(outerFrom, 0)
  outerTo = Math.min(outerTo, row.length)
  // A shape without an inside has an edge only.
  const isNarrow = innerFrom >= innerTo
  paintEdge(row, outerFrom, isNarrow ? outerTo : innerFrom, { from, to }, colour, palette)
  if (isNarrow) return
  row.fill(colour, innerFrom, innerTo)
  paintEdge(row, innerTo, outerTo, { from, to }, colour, palette)
}

function paintEdge(
  row: Uint8Array,
  first: number,
  end: number,
  { from, to }: Spans,
  colour: number,
  palette: Palette,
): void {
  for (let x = first; x < end; x++) {
    let covered = 0
    for (let line = 0; line < LINES; line++)
      covered += Math.max(0, Math.min(x + 1, to[line] as number) - Math.max(x, from[line] as number))
    row[x] = palette.cover(row[x] as number, colour, covered / LINES)
  }
}

/** A shape in pixels. */
class Outline {
  readonly top: number
  readonly bottom: number
  readonly #spanAt: (y: number) => readonly [from: number, to: number]
  readonly #spans: Spans = { from: new Float64Array(LINES), to: new Float64Array(LINES) }

  constructor(shape: Shape, scale: number, left: number, top: number) {
    if ('points' in shape) {
      const xs = Float64Array.from(shape.points, ([x]) => left + x * scale)
      const ys = Float64Array.from(shape.points, ([, y]) => top + y * scale)
      this.top = Math.min(...ys)
      this.bottom = Math.max(...ys)
      this.#spanAt = y => spanOfPolygon(xs, ys, y)
    } else {
      const [cx, cy, rx, ry] = [
        left + shape.cx * scale,
        top + shape.cy * scale,
        shape.rx * scale,
        shape.ry * scale,
      ]
      this.top = cy - ry
      this.bottom = cy + ry
      this.#spanAt = y => {
        const half = rx * Math.sqrt(Math.max(0, 1 - ((y - cy) / ry) ** 2))
        return [cx - half, cx + half]
      }
    }
  }

  /** Valid until the next call. */
  spans(row: number): Spans {
    const { from, to } = this.#spans
    for (let line = 0; line < LINES; line++) {
      const [start, end] = this.#spanAt(row + (line + 0.5) / LINES)
      from[line] = start
      to[line] = end
    }
    return this.#spans
  }
}

const NO_SPAN = [0, 0] as const

function spanOfPolygon(xs: Float64Array, ys: Float64Array, y: number): readonly [number, number] {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (let corner = 0, last = xs.length - 1; corner < xs.length; last = corner++) {
    const yA = ys[last] as number
    const yB = ys[corner] as number
    if (yA <= y === yB <= y) continue
    const xA = xs[last] as number
    const x = xA + (((xs[corner] as number) - xA) * (y - yA)) / (yB - yA)
    from = Math.min(from, x)
    to = Math.max(to, x)
  }
  return from < to ? [from, to] : NO_SPAN
}

const PALETTE_SIZE = 256
/** More steps than this make no visible difference. */
const MAX_STEPS = 15

/** An entry of the palette: `share` of 0 to `parts` parts of one colour over another. */
interface Blend {
  readonly under: number
  readonly over: number
  readonly share: number
}

/** The colours of a picture, the background first, and the steps between every two of them. */
class Palette {
  readonly bytes: Uint8Array
  readonly #indexOf: ReadonlyMap<string, number>
  readonly #colours: number
  /** Steps between two colours, plus one. */
  readonly #parts: number
  readonly #blends: Blend[] = []
  /** The entry of a blend, by `#placeOf`. */
  readonly #entries: Uint8Array

  constructor({ background, shapes }: Picture) {
    const colours = [...new Set([background, ...shapes.map(shape => shape.fill)])]
    const count = colours.length
    const pairs = (count * (count - 1)) / 2
    this.#indexOf = new Map(colours.map((hex, index) => [hex, index]))
    this.#colours = count
    this.#parts = 1 + Math.min(MAX_STEPS, Math.floor((PALETTE_SIZE - count) / pairs))
    this.#entries = new Uint8Array(count * count * (this.#parts + 1))
    for (let colour = 0; colour < count; colour++) this.#add({ under: colour, over: colour, share: 0 })
    for (let under = 0; under < count; under++)
      for (let over = under + 1; over < count; over++) this.#addBetween(under, over)
    const channels = colours.map(channelsOf)
    this.bytes = Uint8Array.from(
      this.#blends.flatMap(({ under, over, share }) =>
        mixed(must(channels[under], 'a colour'), must(channels[over], 'a colour'), share / this.#parts),
      ),
    )
  }

  indexOf(hex: string): number {
    return must(this.#indexOf.get(hex), hex)
  }

  /** The entry for a pixel of this entry after a colour covered a share of it. */
  cover(entry: number, colour: number, share: number): number {
    const parts = Math.round(share * this.#parts)
    const { under, over, share: before } = this.#blends[entry] as Blend
    // Parts of the same colour add up: shapes that touch leave no gap.
    if (colour === over) return this.#entryOf(under, over, Math.min(this.#parts, before + parts))
    if (colour === under) return this.#entryOf(under, over, Math.max(0, before - parts))
    return this.#entryOf(this.#kept(under, over, before, parts), colour, parts)
  }

  /**
   * A blend has two colours, so one of three has to leave: the smaller part. But if the new colour takes about as much as the
   * larger part, the two shapes touch, and what showed beside the first is covered now. In doubt the colour used first leaves.
   */
  #kept(under: number, over: number, before: number, parts: number): number {
    const rest = this.#parts - before
    if (Math.abs(rest - before) <= 1) return over
    const isTouching = Math.abs(Math.max(rest, before) - parts) <= 1
    return rest > before === isTouching ? over : under
  }

  #addBetween(under: number, over: number): void {
    for (let share = 0; share <= this.#parts; share++) {
      const entry = share === 0 ? under : share === this.#parts ? over : this.#add({ under, over, share })
      this.#entries[this.#placeOf(under, over, share)] = entry
      this.#entries[this.#placeOf(over, under, this.#parts - share)] = entry
    }
  }

  #add(blend: Blend): number {
    return this.#blends.push(blend) - 1
  }

  #entryOf(under: number, over: number, share: number): number {
    return under === over ? under : (this.#entries[this.#placeOf(under, over, share)] as number)
  }

  #placeOf(under: number, over: number, share: number): number {
    return (under * this.#colours + over) * (this.#parts + 1) + share
  }
}

function channelsOf(hex: string): number[] {
  return [1, 3, 5].map(start => Number.parseInt(hex.slice(start, start + 2), 16))
}

function mixed(under: readonly number[], over: readonly number[], share: number): number[] {
  return under.map((part, channel) => Math.round(part + (must(over[channel], 'a channel') - part) * share))
}
