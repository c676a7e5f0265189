import { arch, cpus, loadavg, totalmem, type } from 'node:os'
import type { Finding } from './faults/fault.ts'

/** The findings of one fault. */
export interface Shown {
  readonly fault: string
  readonly what: string
  readonly findings: readonly Finding[]
}

export interface Report {
  readonly date: string
  readonly command: string
  readonly circumstances: string
  readonly shown: readonly Shown[]
}

export function makeReport(circumstances: string, shown: readonly Shown[]): Report {
  const words = process.argv.slice(2)
  const memory = Math.round(totalmem() / 1024 ** 3)
  const machine = `${cpus().length} cores ${arch()}, ${memory} GB, ${type()}, Bun ${Bun.version}`
  return {
    date: new Date().toISOString().slice(0, 10),
    command: ['npm run rig', ...(words.length > 0 ? ['--', ...words] : [])].join(' '),
    circumstances: `${circumstances}. Machine: ${machine}; load average at the end: ${(loadavg()[0] ?? Number.NaN).toFixed(1)}.`,
    shown,
  }
}

/** The report as Markdown, ready for the README. */
export function toMarkdown({ command, date, circumstances, shown }: Report): string {
  return [
    `\`${command}\`, ${date}; ${circumstances}`,
    '',
    summary(shown),
    '',
    '| Fault | Checked | Measured | Goal | Verdict |',
    '|---|---|---|---|---|',
    ...shown.flatMap(({ fault, findings }) =>
      findings.map(each => row([fault, each.asked, each.measured, each.goal, each.verdict])),
    ),
    '',
  ].join('\n')
}

function summary(shown: readonly Shown[]): string {
  const all = shown.flatMap(each => each.findings)
  const judged = all.filter(each => each.verdict !== 'noted')
  const broken = judged.filter(each => each.verdict === 'broken').length
  const clean = shown.filter(each => each.findings.every(finding => finding.verdict !== 'broken')).length
  return `${judged.length - broken} of ${judged.length} goals held; ${clean} of ${shown.length} faults without a broken goal.`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
