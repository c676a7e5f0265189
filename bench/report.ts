/** Results as Markdown tables, with what a reader must know to trust them. `latest.json` has the last run of each measure. */
import { readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { keepResults, showInReadme } from '../tools/keep.ts'
import type { Measure, Plan, Result } from './bench.ts'
import { drawChart } from './chart.ts'
import { BASELINES } from './scenarios.ts'

const HOME = import.meta.dirname
const LATEST = join(HOME, 'latest.json')

/** The last run of a measure. */
type Run = Readonly<Record<'date' | 'size' | 'machine', string>> & {
  readonly load: number
  readonly results: readonly Result[]
}
type Runs = Readonly<Record<string, Run>>

/** Prints the tables, saves the results, and replaces what is made of them in documents if that was asked for. */
export function publish(plan: Plan, measured: readonly (readonly [Measure, readonly Result[]])[]): void {
  const [date = ''] = new Date().toISOString().split('T')
  const head = { date, size: describeSize(plan), machine: describeMachine(), load: loadavg()[0] ?? 0 }
  const runs: Runs = Object.fromEntries(measured.map(([{ name }, results]) => [name, { ...head, results }]))
  const results = measured.flatMap(([, each]) => each)
  console.log([operationTable(runs), resultTable(results), goalTable(results)].join('\n'))
  keepResults(HOME, { '.json': `${JSON.stringify(runs, null, 2)}\n` })
  if (!plan.write) return
  const all: Runs = { ...JSON.parse(readFileSync(LATEST, 'utf8')), ...runs }
  writeFileSync(LATEST, `${JSON.stringify(all, null, 1)}\n`)
  showInReadme(HOME, 'goals', goalTable(Object.values(all).flatMap(each => each.results)))
  showInReadme(HOME, 'operations', operationTable(all))
  const compared = Object.values(all).filter(each => each.results.some(isComparison))
  const inChart = compared.flatMap(each => each.results)
  if (compared[0]) drawChart(join(HOME, '../docs/charts/requests.svg'), inChart, compared[0])
}

/** Whether a row is an operation beside one of its baselines. */
const isComparison = ({ unit }: Result) => (Object.values(BASELINES) as string[]).includes(unit)

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function toTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  return `${[head, head.map(() => '---'), ...lines].map(row).join('\n')}\n`
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US')
const microseconds = (cost: number) => cost.toFixed(cost < 100 ? 1 : 0)
/** Ratios and short times with two digits, the rest as whole numbers. */
const shown = ({ value }: Result) => (Math.abs(value) < 10 ? value.toFixed(2) : whole(value))
const isReached = ({ value, atLeast = -Infinity, atMost = Infinity }: Result) =>
  value >= atLeast && value <= atMost
const marked = (result: Result) => (isReached(result) ? shown(result) : `**${shown(result)}**`)

function goalOf({ atLeast, atMost }: Result): string {
  if (atLeast !== undefined) return `>= ${atLeast.toLocaleString('en-US')}`
  return atMost === undefined ? '' : `<= ${atMost.toLocaleString('en-US')}`
}

/** The results of one unit with one goal, in a line: the one that is farthest from it, and the best one. */
function goalTable(results: readonly Result[]): string {
  const withGoal = results.filter(each => goalOf(each) !== '')
  const goals = Map.groupBy(withGoal, each => `${goalOf(each)} ${each.unit}`)
  const lines = [...goals].map(([goal, parts]) => {
    const sign = parts[0]?.atLeast === undefined ? -1 : 1
    const [worst, ...others] = parts.toSorted((a, b) => sign * (a.value - b.value))
    const best = others.slice(-1).map(each => ` to ${shown(each)}`)
    const reached = parts.filter(isReached).length
    const status = reached === parts.length ? 'reached' : `**${reached} of ${parts.length}**`
    return [goal, worst ? `${shown(worst)} (${worst.work})${best}` : '', status]
  })
  return toTable(['Goal', 'Measured', 'Status'], lines)
}

/** A row for each operation, with its baselines side by side, and the runs that they are from. */
function operationTable(runs: Runs): string {
  const units = Object.values(BASELINES)
  const compared = Object.values(runs).filter(each => each.results.some(isComparison))
  const heads = compared.map(each => `${each.date}: ${each.size}; ${each.machine}`)
  const load = Math.max(...compared.map(each => each.load)).toFixed(1)
  const lines = compared.map(({ results }) => {
    const found = units.map(unit => results.find(each => each.unit === unit))
    const costs = found.map(each => (each?.against ? microseconds(each.against.cost) : ''))
    const ratios = found.map(each => (each ? `${marked(each)}${spreadOf(each)}` : ''))
    const { work = '', strand, against } = results[0] ?? {}
    const rates = [strand, against].map(each => whole(each?.perSecond ?? 0)).join(' / ')
    const slowest = [strand, against].map(each => each?.p99.toFixed(1)).join(' / ')
    return [work, microseconds(strand?.cost ?? 0), ...costs, ...ratios, rates, slowest]
  })
  const columns = ['Operation', 'Strand, µs', 'usual', 'least', 'bare', 'times usual', 'of least', 'of bare']
  const table = toTable([...columns, 'requests/s, Strand / usual', 'p99, ms'], lines)
  const head = `${[...new Set(heads)].join('. ')}; load average up to ${load}.`
  return lines.length === 0 ? '' : `${head}\n\n${table}`
}

const spreadOf = ({ spread }: Result) => (spread ? ` (${spread.map(end => end.toFixed(2)).join('–')})` : '')

/** A row for each result that is no operation. */
function resultTable(results: readonly Result[]): string {
  const lines = results
    .filter(each => !isComparison(each))
    .map(result => {
      const { strand, against, details } = result
      const costs = strand && against && `${microseconds(strand.cost)} and ${microseconds(against.cost)} µs`
      const value = `${marked(result)} ${result.unit}${spreadOf(result)}`
      return [result.work, value, goalOf(result), [details, costs].filter(Boolean).join('; ')]
    })
  return toTable(['Work', 'Measured', 'Goal', 'Details'], lines)
}

function describeSize({ size, pace }: Plan): string {
  const world = `${whole(size.streams)} live streams, ${whole(size.entitlements)} entitlements`
  return `${world}; medians of ${pace.rounds} rounds of ${pace.seconds} s`
}

/** The machine in a line, without its name. */
function describeMachine(): string {
  const memory = Math.round(totalmem() / 1024 ** 3)
  const processor = `${cpus().length} cores ${arch() === 'arm64' ? 'aarch64' : arch()} (${cpus()[0]?.model})`
  return `${processor}, ${memory} GB, ${type()}, Bun ${Bun.version}`
}
