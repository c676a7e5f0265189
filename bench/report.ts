/** Results as Markdown tables, with what a reader must know to trust them. */
import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import { keepResults, showInReadme } from '../tools/keep.ts'
import type { Plan, Result } from './bench.ts'

const HOME = import.meta.dirname

export const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
export const whole = (value: number) => Math.round(value).toLocaleString('en-US')

/** Ratios and short times with two digits, the rest as whole numbers. */
export const shown = ({ value }: Result) => (Math.abs(value) < 10 ? value.toFixed(2) : whole(value))

export function goalOf({ atLeast, atMost }: Result): string {
  if (atLeast !== undefined) return `>= ${atLeast.toLocaleString('en-US')}`
  return atMost === undefined ? '' : `<= ${atMost.toLocaleString('en-US')}`
}

export function isReached({ value, atLeast = -Infinity, atMost = Infinity }: Result): boolean {
  return value >= atLeast && value <= atMost
}

export function resultTable(results: readonly Result[]): string {
  const status = (result: Result) =>
    goalOf(result) === '' ? '' : isReached(result) ? 'reached' : '**not reached**'
  return [
    row(['Work', 'Measured', 'Goal', 'Status', 'Details']),
    row(['---', '---', '---', '---', '---']),
    ...results.map(each =>
      row([each.work, `**${shown(each)}** ${each.unit}`, goalOf(each), status(each), each.details ?? '']),
    ),
    '',
  ].join('\n')
}

/** Prints the tables, saves the results, and replaces the blocks of the README if that was asked for. */
export function publish(
  { size, pace, write }: Plan,
  tables: Readonly<Record<string, string>>,
  results: readonly Result[],
): void {
  const words = process.argv.slice(2)
  const command = `npm run bench${words.length > 0 ? ` -- ${words.join(' ')}` : ''}`
  const machine = describeMachine()
  const [date] = new Date().toISOString().split('T')
  const head = `\`${command}\`, ${date}; ${whole(size.streams)} live streams, ${whole(size.entitlements)} entitlements; medians of ${pace.rounds} rounds of ${pace.seconds} s.
Machine: ${machine}. Load average at the end: ${loadavg()[0]?.toFixed(1)}, of which 1 to 2 is the benchmark.
`
  const blocks = Object.entries(tables).map(([name, table]) => [name, `${head}\n${table}`] as const)
  for (const [, text] of blocks) console.log(text)
  keepResults(HOME, { '.json': `${JSON.stringify({ command, machine, results }, null, 2)}\n` })
  if (write) for (const [name, text] of blocks) showInReadme(HOME, name, text)
}

/** The machine in a line, without its name. */
function describeMachine(): string {
  const lscpu = Bun.which('lscpu') === null ? '' : Bun.spawnSync(['lscpu']).stdout.toString()
  const model = /Model name:\s+(.+)/.exec(lscpu)?.[1]
  const memory = Math.round(totalmem() / 1024 ** 3)
  const processor = `${cpus().length} cores ${arch() === 'arm64' ? 'aarch64' : arch()}`
  return `${processor}${model ? ` (${model})` : ''}, ${memory} GB, ${type()}, Bun ${Bun.version}`
}
