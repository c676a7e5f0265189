type Point = readonly [x: number, y: number]

/** A line of cubic Bézier curves: where it starts, then two control points and an end for each curve. */
export type Strand = readonly [start: Point, ...rest: Point[]]

/** The logo: three strands twisted into one, in a square of 24 by 24. */
export const STRANDS: readonly Strand[] = [
  [
    [5, 3],
    [5, 9],
    [19, 9],
    [19, 15],
    [19, 18],
    [17, 20],
    [15, 21],
  ],
  [
    [12, 3],
    [12, 8],
    [5, 9],
    [5, 15],
    [5, 18],
    [7, 20],
    [9, 21],
  ],
  [
    [19, 3],
    [19, 6],
    [17, 7.5],
    [15, 9],
  ],
]

export const STROKE_WIDTH = 2.8

/** The strands as the paths of an SVG. */
export const STROKES = STRANDS.map(([[x, y], ...rest]) => `<path d="M${x} ${y}C${rest.join(' ')}"/>`).join('')

/** The logo as an SVG without a background. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#6366f1" stroke-width="${STROKE_WIDTH}" stroke-linecap="round">${STROKES}</svg>`

/** The logo as a data URL. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`
