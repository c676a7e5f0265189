/**
 * Line charts as SVG, drawn by hand: a few rectangles, lines and words. The picture brings its own background, so that it
 * can be read on a light page and on a dark one, and says what it shows in words, for those who cannot see it. Series
 * differ in dashes as well as in colour.
 */

export interface Picture {
  readonly title: string
  readonly description: string
  /** Drawn one below the other. */
  readonly panels: readonly Panel[]
}

interface Panel {
  readonly title: string
  readonly across: Axis
  readonly upward: Axis
  readonly series: readonly Series[]
  readonly goal?: { readonly value: number; readonly label: string }
}

interface Axis {
  readonly label: string
  readonly low: number
  readonly high: number
  readonly scale?: 'linear' | 'logarithmic'
  /** Chosen evenly if left out. */
  readonly ticks?: readonly number[]
}

interface Series {
  readonly name: string
  readonly points: readonly (readonly [across: number, upward: number])[]
}

const WIDTH = 800
const LEFT = 64
const RIGHT = 24
const PLOT_TOP = 46
const PLOT_HEIGHT = 250
const BELOW_PLOT = 60
const LEGEND_LINE = 20
const LEGEND_COLUMNS = 2

const PAPER = '#fcfbf8'
const INK = '#22252a'
const FAINT = '#d9d7d0'
const GOAL_INK = '#a11'
const STROKES = [
  { colour: '#0b62a4', dashes: '' },
  { colour: '#c2500a', dashes: '7 3' },
  { colour: '#08795a', dashes: '2 3' },
  { colour: '#9b3d7f', dashes: '10 3 2 3' },
  { colour: '#8a6500', dashes: '4 2' },
  { colour: '#4b4f9e', dashes: '12 4' },
] as const

export function drawPicture({ title, description, panels }: Picture): string {
  const drawn: string[] = []
  let top = 0
  for (const panel of panels) {
    drawn.push(`<g transform="translate(0 ${top})">\n${drawPanel(panel)}\n</g>`)
    top += heightOf(panel)
  }
  const height = top + 12
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="${PAPER}"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

/** A legend of one is said by the title of the panel. */
function legendLines({ series }: Panel): number {
  return series.length < 2 ? 0 : Math.ceil(series.length / LEGEND_COLUMNS)
}

function heightOf(panel: Panel): number {
  return PLOT_TOP + PLOT_HEIGHT + BELOW_PLOT + legendLines(panel) * LEGEND_LINE
}

function drawPanel(panel: Panel): string {
  const x = placer(panel.across, LEFT, WIDTH - RIGHT)
  const y = placer(panel.upward, PLOT_TOP + PLOT_HEIGHT, PLOT_TOP)
  return [
    text(LEFT, 28, panel.title, 'font-weight="600" font-size="15"'),
    ...drawAxes(panel, x, y),
    ...drawGoal(panel, y),
    ...panel.series.map((each, index) => drawSeries(each, index, x, y)),
    ...(legendLines(panel) === 0 ? [] : panel.series.map(drawLegend)),
  ].join('\n')
}

type Place = (value: number) => number

/** From values to places on the paper. */
function placer({ low, high, scale = 'linear' }: Axis, from: number, to: number): Place {
  const measure = scale === 'logarithmic' ? Math.log10 : (value: number) => value
  const span = measure(high) - measure(low) || 1
  return value => Math.round((from + ((measure(value) - measure(low)) / span) * (to - from)) * 10) / 10
}

function drawAxes({ across, upward }: Panel, x: Place, y: Place): string[] {
  const bottom = PLOT_TOP + PLOT_HEIGHT
  const right = WIDTH - RIGHT
  return [
    ...ticksOf(upward).flatMap(tick => [
      `<line x1="${LEFT}" y1="${y(tick)}" x2="${right}" y2="${y(tick)}" stroke="${FAINT}"/>`,
      text(LEFT - 8, y(tick) + 4, spoken(tick), 'text-anchor="end"'),
    ]),
    ...ticksOf(across).flatMap(tick => [
      `<line x1="${x(tick)}" y1="${bottom}" x2="${x(tick)}" y2="${bottom + 5}" stroke="${INK}"/>`,
      text(x(tick), bottom + 20, spoken(tick), `text-anchor="${tick === across.high ? 'end' : 'middle'}"`),
    ]),
    `<line x1="${LEFT}" y1="${bottom}" x2="${right}" y2="${bottom}" stroke="${INK}"/>`,
    text((LEFT + right) / 2, bottom + 38, across.label, 'text-anchor="middle"'),
    text(
      0,
      0,
      upward.label,
      `text-anchor="middle" transform="translate(16 ${bottom - PLOT_HEIGHT / 2}) rotate(-90)"`,
    ),
  ]
}

function drawGoal({ goal, upward }: Panel, y: Place): string[] {
  if (goal === undefined || goal.value < upward.low || goal.value > upward.high) return []
  const height = y(goal.value)
  return [
    `<line x1="${LEFT}" y1="${height}" x2="${WIDTH - RIGHT}" y2="${height}" stroke="${GOAL_INK}" stroke-width="1.5" stroke-dasharray="3 4"/>`,
    text(LEFT + 6, height - 5, goal.label, `fill="${GOAL_INK}"`),
  ]
}

function strokeOf(index: number) {
  return STROKES[index % STROKES.length] ?? STROKES[0]
}

function drawSeries({ points }: Series, index: number, x: Place, y: Place): string {
  const { colour, dashes } = strokeOf(index)
  const path = points.map(([across, upward]) => `${x(across)},${y(upward)}`).join(' ')
  const dots = points.map(
    ([across, upward]) => `<circle cx="${x(across)}" cy="${y(upward)}" r="3" fill="${colour}"/>`,
  )
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>${dots.join('')}`
}

function drawLegend({ name }: Series, index: number): string {
  const { colour, dashes } = strokeOf(index)
  const column = (WIDTH - LEFT - RIGHT) / LEGEND_COLUMNS
  const left = LEFT + (index % LEGEND_COLUMNS) * column
  const top = PLOT_TOP + PLOT_HEIGHT + BELOW_PLOT + Math.floor(index / LEGEND_COLUMNS) * LEGEND_LINE
  return [
    `<line x1="${left}" y1="${top}" x2="${left + 32}" y2="${top}" stroke="${colour}" stroke-width="2" stroke-dasharray="${dashes}"/>`,
    `<circle cx="${left + 16}" cy="${top}" r="3" fill="${colour}"/>`,
    text(left + 40, top + 4, name),
  ].join('')
}

/** Steps of 1, 2 or 5, about five of them. */
function ticksOf({ ticks, low, high }: Axis): readonly number[] {
  if (ticks !== undefined) return ticks
  const rough = (high - low) / 5 || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(factor => factor * power).find(each => each >= rough * 0.999) ?? rough
  const first = Math.ceil(low / step - 0.001)
  const last = Math.floor(high / step + 0.001)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

function spoken(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

function text(x: number, y: number, words: string, attributes = ''): string {
  const fill = attributes.includes('fill=') ? '' : ` fill="${INK}"`
  return `<text x="${x}" y="${y}"${fill}${attributes === '' ? '' : ` ${attributes}`}>${escaped(words)}</text>`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
