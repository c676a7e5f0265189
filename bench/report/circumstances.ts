import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import { type Children, SERVER_CORE } from '../load/children.ts'

/** What a reader must know to trust a result. */
export interface Circumstances {
  readonly date: string
  readonly command: string
  readonly machine: string
  /** Of the last minute, at the end. The benchmark causes 1 to 2; anything above comes from other programs. */
  readonly loadAverage: number
}

export async function circumstances(children: Children): Promise<Circumstances> {
  const words = process.argv.slice(2)
  return {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' '),
    machine: describeMachine(await processorModel(children)),
    loadAverage: loadavg()[0] ?? Number.NaN,
  }
}

/** The lines above a table. */
export function inWords({ command, date, machine, loadAverage }: Circumstances, what: string): string {
  return [
    `\`${command}\`, ${date}; ${what}.`,
    `Machine: ${machine}. Load average at the end: ${loadAverage.toFixed(1)}, of which 1 to 2 is the benchmark.`,
  ].join('\n')
}

/** The machine in a line, without its name. */
function describeMachine(model: string | undefined): string {
  const memory = Math.round(totalmem() / 1024 ** 3)
  const processor = `${cpus().length} cores ${arch() === 'arm64' ? 'aarch64' : arch()}`
  return `${processor}${model === undefined ? '' : ` (${model})`}, ${memory} GB, ${type()}, Bun ${Bun.version}`
}

async function processorModel(children: Children): Promise<string | undefined> {
  if (Bun.which('lscpu') === null) return undefined
  return /Model name:\s+(.+)/.exec(await children.output(SERVER_CORE, ['lscpu']))?.[1]?.trim()
}
