/** Results as Markdown tables, with what a reader must know to trust them. `latest.json` has the last two runs of each measure. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { keepResults, showInReadme } from '../tools/keep.ts'
import type { Measure, Plan, Result } from './bench.ts'
import { drawChart } from './chart.ts'
import { goalOf, isReached, row, shown, whole } from './format.ts'
import { goalMeasures, goalTable } from './goals.ts'
import { BASELINES } from './scenarios/scenario.ts'

const HOME = import.meta.dirname
const LATEST = join(HOME, 'latest.json')

/** One run of a measure. */
interface Run {
  readonly date: string
  readonly size: string
  readonly machine: string
  readonly load: number
  readonly results: readonly Result[]
}
type Runs = Readonly<Record<string, { readonly block: string; readonly runs: readonly Run[] }>>

/** Prints the tables, saves the results, and replaces what is made of them in documents if that was asked for. */
export function publish(plan: Plan, measured: readonly (readonly [Measure, readonly Result[]])[]): void {
  const [date = ''] = new Date().toISOString().split('T')
  const head = { date, size: describeSize(plan), machine: describeMachine(), load: loadavg()[0] ?? 0 }
  const kept: Runs = existsSync(LATEST) ? JSON.parse(readFileSync(LATEST, 'utf8')) : {}
  const added: Runs = Object.fromEntries(
    measured.map(([{ name, block }, results]) => {
      const before = plan.write ? (kept[name]?.runs.slice(0, 1) ?? []) : []
      return [name, { block, runs: [{ ...head, results }, ...before] }]
    }),
  )
  for (const [block, text] of Object.entries(toBlocks(added))) console.log(`${block}\n\n${text}`)
  keepResults(HOME, { '.json': `${JSON.stringify(added, null, 2)}\n` })
  if (!plan.write) return
  const all = { ...kept, ...added }
  writeFileSync(LATEST, `${JSON.stringify(all, null, 1)}\n`)
  for (const [block, text] of Object.entries(toBlocks(all))) showInReadme(HOME, block, text)
  const [operation] = Object.values(all).filter(each => each.block === 'operations')
  const caption = [operation?.runs[0]?.size, operation?.runs[0]?.machine].join('; ')
  drawChart(join(HOME, '../docs/charts/requests.svg'), latestResults(all), caption)
}

const latestResults = (runs: Runs) => inOrder(runs).flatMap(each => each.runs[0]?.results ?? [])

/** As the goals are measured, then the others. */
function inOrder(runs: Runs) {
  const names = new Set([...goalMeasures.map(({ name }) => name), ...Object.keys(runs)])
  return [...names].flatMap(name => runs[name] ?? [])
}

/** Tables, each with the runs that it is from: measures of a block may be from several. */
function toBlocks(runs: Runs): Record<string, string> {
  const goals = { goals: goalTable(latestResults(runs)) }
  const blocks = [...Map.groupBy(inOrder(runs), each => each.block)].map(([block, ofBlock]) => {
    const last = ofBlock.flatMap(each => each.runs[0] ?? [])
    const unique = (texts: readonly string[]) => [...new Set(texts)].join('; ')
    const loads = last.map(({ load }) => load)
    const [low, high] = [Math.min(...loads), Math.max(...loads)].map(load => load.toFixed(1))
    const head = [last.map(run => run.date).sort(), last.map(run => run.size), last.map(run => run.machine)]
    const rows = ofBlock.flatMap(({ runs: [now, before] }) =>
      (now?.results ?? []).map((result, n) => ({ result, before: before?.results[n] })),
    )
    const table = block === 'operations' ? operationTable(rows) : resultTable(rows)
    return [
      block,
      `${head.map(unique).join('; ')}; load average ${low === high ? low : `${low} to ${high}`}.\n\n${table}`,
    ]
  })
  return { ...goals, ...Object.fromEntries(blocks) }
}

interface Row {
  readonly result: Result
  readonly before: Result | undefined
}

const microseconds = (cost: number) => cost.toFixed(cost < 100 ? 1 : 0)

/** A row for each operation, with its baselines side by side. */
function operationTable(rows: readonly Row[]): string {
  const baselines = Object.values(BASELINES)
  const lines = [...Map.groupBy(rows, ({ result }) => result.work)].map(([work, ofWork]) => {
    const { strand, against } = ofWork[0]?.result ?? {}
    const ratios = baselines.map(baseline => {
      const found = ofWork.find(({ result }) => result.unit === baseline)
      if (found === undefined) return ''
      const { result, before } = found
      const value = isReached(result) ? shown(result) : `**${shown(result)}**`
      const spread = result.spread?.map(each => each.toFixed(2)).join('–')
      return `${value} (${[spread, ...(before ? [`before ${shown(before)}`] : [])].join('; ')})`
    })
    const costs = baselines.map(baseline => {
      const cost = ofWork.find(({ result }) => result.unit === baseline)?.result.against?.cost
      return cost === undefined ? '' : microseconds(cost)
    })
    const rates = [strand, against].map(each => whole(each?.perSecond ?? 0)).join(' / ')
    const slowest = [strand, against].map(each => each?.p99.toFixed(1)).join(' / ')
    return row([work, microseconds(strand?.cost ?? 0), ...costs, ...ratios, rates, slowest])
  })
  const head = ['Operation', 'Strand, µs', 'usual', 'least', 'bare', 'times usual', 'of least', 'of bare']
  const columns = [...head, 'requests/s, Strand / usual', 'p99, ms']
  return [row(columns), row(columns.map(() => '---')), ...lines, ''].join('\n')
}

function resultTable(rows: readonly Row[]): string {
  const lines = rows.map(({ result, before }) => {
    const { strand, against, spread } = result
    const costs = strand && against && `${microseconds(strand.cost)} and ${microseconds(against.cost)} µs`
    const ends = spread?.map(each => each.toFixed(2)).join(' to ')
    const details = [result.details, costs, ends, before && `before ${shown(before)}`].filter(each => each)
    const value = `${isReached(result) ? shown(result) : `**${shown(result)}**`} ${result.unit}`
    return row([result.work, value, goalOf(result), details.join('; ')])
  })
  return [row(['Work', 'Measured', 'Goal', 'Details']), row(['---', '---', '---', '---']), ...lines, ''].join(
    '\n',
  )
}

function describeSize({ size, pace }: Plan): string {
  const world = `${whole(size.streams)} live streams, ${whole(size.entitlements)} entitlements`
  return `${world}; medians of ${pace.rounds} rounds of ${pace.seconds} s`
}

/** The machine in a line, without its name. */
function describeMachine(): string {
  const lscpu = Bun.which('lscpu') === null ? '' : Bun.spawnSync(['lscpu']).stdout.toString()
  const model = /Model name:\s+(.+)/.exec(lscpu)?.[1]
  const memory = Math.round(totalmem() / 1024 ** 3)
  const processor = `${cpus().length} cores ${arch() === 'arm64' ? 'aarch64' : arch()}`
  return `${processor}${model ? ` (${model})` : ''}, ${memory} GB, ${type()}, Bun ${Bun.version}`
}
