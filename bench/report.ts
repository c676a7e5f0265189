/** Results as Markdown tables, with what a reader must know to trust them. */
import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import { keepResults, showInReadme } from '../tools/keep.ts'
import type { Plan, Result } from './bench.ts'
import { LOAD_CORE, type Processes } from './load/processes.ts'

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

/** Prints the table, saves the results, and replaces the block of the README if that was asked for. */
export async function publish(
  { plan, processes }: { plan: Plan; processes: Processes },
  table: string,
  results: readonly Result[],
): Promise<void> {
  const { size, pace, block } = plan
  const words = process.argv.slice(2)
  const command = ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ')
  const what = `${whole(size.streams)} live streams, ${whole(size.entitlements)} entitlements; medians of ${pace.rounds} rounds of ${pace.seconds} s`
  const machine = describeMachine(await processorModel(processes))
  const text = [
    `\`${command}\`, ${new Date().toISOString().slice(0, 10)}; ${what}.`,
    `Machine: ${machine}. Load average at the end: ${loadavg()[0]?.toFixed(1)}, of which 1 to 2 is the benchmark.`,
    '',
    table,
  ].join('\n')
  console.log(text)
  keepResults(import.meta.dirname, {
    '.json': `${JSON.stringify({ command, machine, results }, null, 2)}\n`,
    '.md': text,
  })
  if (block !== undefined) showInReadme(import.meta.dirname, block, text)
}

/** The machine in a line, without its name. */
function describeMachine(model: string | undefined): string {
  const memory = Math.round(totalmem() / 1024 ** 3)
  const processor = `${cpus().length} cores ${arch() === 'arm64' ? 'aarch64' : arch()}`
  return `${processor}${model === undefined ? '' : ` (${model})`}, ${memory} GB, ${type()}, Bun ${Bun.version}`
}

async function processorModel(processes: Processes): Promise<string | undefined> {
  if (Bun.which('lscpu') === null) return undefined
  return /Model name:\s+(.+)/.exec(await processes.output(LOAD_CORE, ['lscpu']))?.[1]?.trim()
}
