/**
 * Pictures as rows of palette indices. The inside of a shape is filled with one native call per row, so that a large picture
 * takes little longer than filling its memory. The pixels at the edges are computed one by one, and become steps between
 * two colours of the palette in the share that the shape covers.
 */
import { Palette } from './palette.ts'
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
    colour: palette.findIndex(shape.fill),
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
