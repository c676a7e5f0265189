/**
 * Draws the lines of a chart; loaded on demand, with uPlot. Colours are tokens of the style sheet, read whenever the chart is
 * drawn, so that it follows the colour scheme. Nothing is animated.
 */
import UPlot from 'uplot'
import { axisTicks, timeTicks } from './axis.ts'

/** A token of the style sheet that a line is drawn with: `accent` is `--accent`. */
export type Tone = 'accent' | 'live' | 'good' | 'warn' | 'bad' | 'quiet'

export type Values = readonly (number | null)[]

export interface PlotOptions {
  readonly tones: readonly Tone[]
  readonly format: (value: number) => string
  /** Values are counts: the axis has no ticks between whole numbers. */
  readonly isCount: boolean
  /** Called with the index of the values under the pointer, and with undefined when it leaves. */
  readonly onPoint: (index: number | undefined) => void
}

const MINUTE = 60
/** Room for the times below a chart, and beside the last of them. */
const TIMES_HEIGHT = 22
const TIME_WIDTH = { minutes: 34, seconds: 52 }
/** Between a value and the line of its tick, and the average width of a character. */
const VALUE_GAP = 10
const CHARACTER_WIDTH = 6.6
/** The alpha of the area below a line, as the last two digits of a colour. */
const AREA = '22'
/** A chart of the first values is as wide as one of a minute. */
const MIN_SECONDS = 60

export class LinePlot {
  readonly #element: HTMLElement
  readonly #plot: UPlot
  readonly #resized: ResizeObserver
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)')
  readonly #redraw = () => this.#plot.redraw(false)

  constructor(element: HTMLElement, { tones, format, isCount, onPoint }: PlotOptions) {
    this.#element = element
    const font = `11px ${getComputedStyle(element).fontFamily}`
    const grid = { stroke: () => this.#colour('line'), width: 1 }
    const axis = { stroke: () => this.#colour('quiet'), font, grid, ticks: { show: false } }
    this.#plot = new UPlot(
      {
        ...measure(element),
        legend: { show: false },
        padding: [8, 4, 0, 0],
        scales: {
          x: { range: (_plot, first, last) => [Math.min(first, last - MIN_SECONDS), last] },
          y: { range: (_plot, _low, high) => [0, axisTicks(high ?? 0, isCount).at(-1) ?? 1] },
        },
        cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
        axes: [
          {
            ...axis,
            size: TIMES_HEIGHT,
            grid: { show: false },
            ticks: { show: true, stroke: () => this.#colour('line'), width: 1, size: 4 },
            splits: (plot, _axis, from, to) => visibleTimes(plot, from, to),
            values: (_plot, times) => clockTimes(times),
          },
          {
            ...axis,
            gap: VALUE_GAP / 2,
            size: (_plot, labels) =>
              VALUE_GAP + CHARACTER_WIDTH * Math.max(0, ...(labels ?? []).map(({ length }) => length)),
            splits: (_plot, _axis, _low, high) => axisTicks(high, isCount),
            values: (_plot, values) => values.map(format),
          },
        ],
        series: [
          {},
          ...tones.map(tone => ({
            stroke: () => this.#colour(tone),
            width: 2,
            ...(tones.length === 1 && { fill: () => this.#colour(tone) + AREA }),
            points: { show: false },
          })),
        ],
        hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
      },
      [[], ...tones.map(() => [])],
      element,
    )
    this.#resized = new ResizeObserver(() => this.#plot.setSize(measure(element)))
    this.#resized.observe(element)
    this.#scheme.addEventListener('change', this.#redraw)
  }

  /** Times in seconds since 1970, ascending, and the values of each line at those times. */
  show(times: readonly number[], lines: readonly Values[]): void {
    this.#plot.setData([[...times], ...lines.map(values => [...values])])
  }

  close(): void {
    this.#scheme.removeEventListener('change', this.#redraw)
    this.#resized.disconnect()
    this.#plot.destroy()
  }

  #colour(token: string): string {
    return getComputedStyle(this.#element).getPropertyValue(`--${token}`).trim()
  }
}

/** The chart fills its place. */
const measure = ({ clientWidth, clientHeight }: HTMLElement) => ({ width: clientWidth, height: clientHeight })

/** As many times as fit, without one that would be cut off on the right. */
function visibleTimes({ bbox }: UPlot, from: number, to: number): number[] {
  const width = bbox.width / devicePixelRatio
  const most = Math.floor(width / (TIME_WIDTH.seconds + 16))
  const ticks = timeTicks(from, to, most)
  const half = (isClose(ticks) ? TIME_WIDTH.seconds : TIME_WIDTH.minutes) / 2
  return ticks.filter(time => ((to - time) / (to - from)) * width >= half - 4)
}

const isClose = ([first = 0, second = first + MINUTE]: readonly number[]): boolean => second - first < MINUTE

/** Local times of day: with seconds where the chart covers minutes. */
function clockTimes(times: readonly number[]): string[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(isClose(times) && { second: '2-digit' }),
  })
  return times.map(time => format.format(time * 1000))
}
