/** @jsxRuntime automatic @jsxImportSource preact */
/**
 * Values over time. The chart itself is a picture for people who can see it, drawn in the browser; the same values are in the
 * page as a sentence and as a table for screen readers, also without a script. A page with a chart has the style sheet `chart`.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LinePlot, Tone, Values } from './line-plot.ts'

export interface Line {
  readonly name: string
  readonly values: Values
  /** `accent` if absent. */
  readonly tone?: Tone
}

export interface LineChartProps {
  /** What the values are: `Viewers`. */
  readonly label: string
  /** Seconds since 1970, ascending; each line has a value, or null, for each. */
  readonly times: readonly number[]
  /** Their number and tones do not change. */
  readonly lines: readonly Line[]
  readonly format?: (value: number) => string
  /** Values are counts: the axis has no ticks between whole numbers. */
  readonly isCount?: boolean
}

/** The table has this many rows, spread over the time of the chart. */
const MAX_ROWS = 12

const inFull = (value: number): string => value.toLocaleString('en-US')

export function LineChart({ label, times, lines, format = inFull, isCount = false }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<LinePlot | undefined>(undefined)
  const [pointed, setPointed] = useState<number>()
  const shown = useRef({ times, lines })
  shown.current = { times, lines }
  const isLine = times.length > 1

  const show = () =>
    plot.current?.show(
      shown.current.times,
      shown.current.lines.map(({ values }) => values),
    )

  useEffect(() => {
    let isGone = false
    void import('./line-plot.ts').then(module => {
      if (isGone || place.current === null) return
      const tones = shown.current.lines.map(({ tone = 'accent' }) => tone)
      plot.current = new module.LinePlot(place.current, {
        tones,
        format,
        isCount,
        onPoint: setPointed,
      })
      show()
    })
    return () => {
      isGone = true
      plot.current?.close()
    }
  }, [])
  useEffect(show, [times, ...lines.map(({ values }) => values)])

  return (
    <figure class="line-chart" aria-label={label}>
      <div class={isLine ? 'plot-area' : 'plot-area no-line'}>
        <div class="plot" ref={place} aria-hidden="true" />
        {!isLine && <p class="quiet small">The line begins in a few seconds.</p>}
      </div>
      {times.length > 0 && (
        <>
          <ul class="legend num" aria-hidden="true">
            {lines.map(({ name, values, tone = 'accent' }) => (
              <li key={name} class={`tone-${tone}`}>
                <span>{name}</span> <strong>{shownValue(values.at(pointed ?? -1), format)}</strong>
              </li>
            ))}
            {pointed !== undefined && <li>{ago(times, pointed)}</li>}
          </ul>
          <figcaption class="quiet small">
            {lines.map(line => summary(line, format)).join(' ')} {span(times)}
          </figcaption>
          <ValueTable label={label} times={times} lines={lines} format={format} />
        </>
      )}
    </figure>
  )
}

function ValueTable({ label, times, lines, format }: Required<Omit<LineChartProps, 'isCount'>>) {
  const step = Math.max(1, Math.ceil(times.length / MAX_ROWS))
  const rows = times.flatMap((time, index) =>
    (times.length - 1 - index) % step === 0 ? [{ time, index }] : [],
  )
  return (
    <table class="hidden-text">
      <caption>{label}, values over time</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {lines.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ time, index }) => (
          <tr key={time}>
            <th scope="row">{ago(times, index)}</th>
            {lines.map(({ name, values }) => (
              <td key={name}>{shownValue(values[index], format)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const shownValue = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value)

/** `Viewers: 120 now, between 3 and 140.` */
function summary({ name, values }: Line, format: (value: number) => string): string {
  const known = values.filter(value => value !== null)
  if (known.length === 0) return `${name}: no values.`
  const [low, high] = [
    known.reduce((least, value) => Math.min(least, value)),
    known.reduce((most, value) => Math.max(most, value)),
  ]
  const range = low === high ? 'unchanged' : `between ${format(low)} and ${format(high)}`
  return `${name}: ${shownValue(values.at(-1), format)} now, ${range}.`
}

function span(times: readonly number[]): string {
  const seconds = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return seconds === 0 ? '' : `Last ${duration(seconds)}.`
}

/** Relative to the last value: the same in every time zone. */
function ago(times: readonly number[], index: number): string {
  const seconds = (times.at(-1) ?? 0) - (times[index] ?? 0)
  return seconds === 0 ? 'now' : `${duration(seconds)} ago`
}

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
