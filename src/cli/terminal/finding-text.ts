import { type Paint, paintFor, type Style } from './colour.ts'
import { widthOfTerminal, wrap } from './width.ts'

/** One line of a check: its level, and what was found. */
export interface FindingText {
  readonly level: 'ok' | 'note' | 'warning' | 'problem'
  readonly text: string
  /** What to do about it. */
  readonly advice?: string | undefined
}

const LEVEL_WIDTH = 9
const STYLES: Readonly<Record<FindingText['level'], Style>> = {
  ok: 'green',
  note: 'cyan',
  warning: 'yellow',
  problem: 'red',
}

/** The findings of a check for standard output: on a terminal with colour and wrapped, elsewhere a line each. */
export function findingTexts(findings: readonly FindingText[]): string {
  const width = widthOfTerminal(process.stdout) ?? Number.POSITIVE_INFINITY
  const paint = paintFor(process.stdout)
  return findings.map(each => findingText(each, width, paint)).join('')
}

export function findingText({ level, text, advice }: FindingText, width: number, paint: Paint): string {
  const indent = ' '.repeat(LEVEL_WIDTH)
  const lines = wrap(text, width - LEVEL_WIDTH)
  const head = `${paint(level, STYLES[level])}${' '.repeat(LEVEL_WIDTH - level.length)}${lines.join(`\n${indent}`)}\n`
  if (advice === undefined) return head
  return `${head}${indent}-> ${wrap(advice, width - LEVEL_WIDTH - 3).join(`\n${indent}   `)}\n`
}
