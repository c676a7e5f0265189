/** @jsxRuntime automatic @jsxImportSource preact */
/** The charts of the overview, with a new point every few seconds. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { CHARTS, type ChartLine, FORMATS, type HistoryPoint, type Unit } from '../charts/console-charts.ts'
import { LineChart } from '../charts/line-chart.tsx'
import { island } from '../scripts/island.tsx'

interface ChartsProps {
  readonly points: readonly HistoryPoint[]
}

const EVERY_MILLISECONDS = 3000
const MAX_POINTS = 300

export const ConsoleCharts = island('console-charts', function ConsoleCharts(props: ChartsProps) {
  const [points, setPoints] = useState(props.points)
  useEffect(() => {
    let last = props.points.at(-1)?.at ?? 0
    const read = async () => {
      if (document.visibilityState !== 'visible') return
      const response = await fetch(`/console/history?since=${last}`)
      if (response.status === 401) return clearInterval(timer)
      if (!response.ok) return
      const { points: more } = (await response.json()) as ChartsProps
      last = more.at(-1)?.at ?? last
      if (more.length > 0) setPoints(before => [...before, ...more].slice(-MAX_POINTS))
    }
    const timer = setInterval(() => void read().catch(() => undefined), EVERY_MILLISECONDS)
    return () => clearInterval(timer)
  }, [])
  const times = useMemo(() => points.map(({ at }) => at / 1000), [points])
  return (
    <div class="charts">
      {CHARTS.map(({ title, unit, lines }) => (
        <section key={title} class="panel chart" aria-label={title}>
          <h2>{title}</h2>
          <Chart title={title} times={times} lines={lines} points={points} unit={unit} />
        </section>
      ))}
    </div>
  )
})

function Chart(view: {
  title: string
  times: readonly number[]
  lines: readonly ChartLine[]
  points: readonly HistoryPoint[]
  unit: Unit
}) {
  const { title, times, points, unit } = view
  const lines = useMemo(
    () => view.lines.map(({ name, of, tone }) => ({ name, tone, values: points.map(point => point[of]) })),
    [points],
  )
  return (
    <LineChart label={title} times={times} lines={lines} format={FORMATS[unit]} isCount={unit === 'count'} />
  )
}
