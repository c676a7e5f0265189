/**
 * The processor time of a request as a chart: a row for each operation, and in it the bare server, Strand and the usual
 * server on a logarithmic scale. One file for light and dark pages.
 */
import { writeFileSync } from 'node:fs'
import type { Result } from './bench.ts'
import { BASELINES } from './scenarios.ts'

const WIDTH = 1000
const LABELS = 332
const PLOT = { left: LABELS + 14, right: WIDTH - 128 }
const TOP = 92
const ROW = 30
const TICKS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000]

const STYLE = `
    svg { --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --line: #d8dee4; --strand: #0a7d74; --usual: #c4581a }
    @media (prefers-color-scheme: dark) {
      svg { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117; --line: #3a424c; --strand: #3fc7bb; --usual: #f0935a }
    }
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; fill: var(--ink) }
    .title { font-size: 17px; font-weight: 600 } .quiet { fill: var(--soft) } .value { font-weight: 600 }
    .middle { text-anchor: middle } .end { text-anchor: end } .paper { fill: var(--paper) }
    line { stroke: var(--line) } .gap { stroke-width: 3; stroke-linecap: round }
    .strand { fill: var(--strand) } .usual { fill: var(--usual) }
    .bare { fill: var(--paper); stroke: var(--soft); stroke-width: 2 }`

type Costs = Readonly<{ work: string; times: number } & Record<'strand' | 'usual' | 'bare', number>>

/** Writes the chart of the operations that were measured, with the size of the world and the machine below it. */
export function drawChart(
  file: string,
  results: readonly Result[],
  captions: Readonly<Record<'size' | 'machine', string>>,
): void {
  const rows = [...Map.groupBy(results, ({ work }) => work)].flatMap(([work, ofWork]): Costs[] => {
    const [toUsual, toBare] = [BASELINES.usual, BASELINES.bare].map(baseline =>
      ofWork.find(({ unit }) => unit === baseline),
    )
    if (!toUsual?.strand || !toUsual.against || !toBare?.against) return []
    const costs = { strand: toUsual.strand.cost, usual: toUsual.against.cost, bare: toBare.against.cost }
    return [{ work, times: toUsual.value, ...costs }]
  })
  if (rows.length > 0) writeFileSync(file, svg(rows, [captions.size, captions.machine]))
}

function svg(rows: readonly Costs[], captions: readonly string[]): string {
  const values = rows.flatMap(({ strand, usual, bare }) => [strand, usual, bare])
  const [low, high] = [Math.min(...values) / 1.25, Math.max(...values) * 1.25]
  const x = (cost: number) =>
    (PLOT.left + ((PLOT.right - PLOT.left) * Math.log(cost / low)) / Math.log(high / low)).toFixed(1)
  const bottom = TOP + rows.length * ROW
  const ticks = TICKS.filter(tick => tick > low && tick < high).map(
    tick => `<line x1="${x(tick)}" x2="${x(tick)}" y1="${TOP}" y2="${bottom}"/>
  <text class="quiet middle" x="${x(tick)}" y="${bottom + 18}">${tick >= 1000 ? `${tick / 1000} ms` : `${tick} µs`}</text>`,
  )
  const lines = rows.map(({ work, times, strand, usual, bare }, n) => {
    const y = TOP + n * ROW + ROW / 2
    return `<text class="end" x="${LABELS}" y="${y + 4.5}">${work.replaceAll('&', '&amp;')}</text>
  <line class="gap" x1="${x(strand)}" x2="${x(usual)}" y1="${y}" y2="${y}"/>
  ${dot('bare', x(bare), y)}${dot('usual', x(usual), y)}${dot('strand', x(strand), y)}
  <text class="value end" x="${WIDTH - 28}" y="${y + 4.5}">${times.toFixed(1)} ×</text>`
  })
  const legend = (['bare', 'strand', 'usual'] as const).map((kind, n) => {
    const at = PLOT.left + n * 150
    const names = { bare: 'bare server', strand: 'Strand', usual: 'usual server' }
    return `${dot(kind, String(at + 6), 58)}<text x="${at + 19}" y="62.5">${names[kind]}</text>`
  })
  const below = captions.map((text, n) => {
    return `<text class="quiet" x="24" y="${bottom + 42 + 20 * n}">${text}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 76}" width="${WIDTH}" role="img" aria-label="Processor time of the server for a request, by operation">
  <style>${STYLE}
  </style>
  <rect class="paper" width="100%" height="100%" rx="8"/>
  <text class="title" x="24" y="32">Processor time of the server for a request</text>
  <text class="quiet" x="24" y="62.5">further left is better, logarithmic</text>
  ${legend.join('\n  ')}
  <text class="quiet end" x="${WIDTH - 28}" y="62.5">usual / Strand</text>
  ${ticks.join('\n  ')}
  ${lines.join('\n  ')}
  ${below.join('\n  ')}
</svg>
`
}

function dot(kind: 'strand' | 'usual' | 'bare', x: string, y: number): string {
  return `<circle class="${kind}" cx="${x}" cy="${y}" r="${kind === 'bare' ? 5 : 6.5}"/>`
}
