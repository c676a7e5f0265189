import type { ImportOptions } from '../transfer/import.ts'

/** How far an import got. */
interface Reached {
  /** Whether lines are imported by now, and not only checked. */
  readonly isApplying: boolean
  /** Up to which all are imported. */
  readonly lastLine: number
  /** Whether later lines may be imported as well. */
  readonly hasChanged?: boolean
  /** The server may have imported more than it reported. */
  readonly isRemote?: boolean
}

/** What was done, and the command that does the rest. */
export function interruptionMessage(
  file: string,
  { dryRun, fromLine }: ImportOptions,
  { isApplying, lastLine, hasChanged = false, isRemote = false }: Reached,
  args: readonly string[] = process.argv.slice(2),
): string {
  if (isRemote && !isApplying)
    return 'interrupted before the server reported progress; importing the file again is safe'
  if (dryRun || !isApplying || (lastLine < fromLine && !hasChanged)) return 'interrupted: nothing was changed'
  if (lastLine < fromLine) return 'interrupted: some lines are imported; importing the file again is safe'
  const count = (lastLine - fromLine + 1).toLocaleString('en-US')
  const done = `interrupted: ${isRemote ? 'at least ' : ''}${count} lines are imported`
  const input = file === '-' ? ', with the same input' : ''
  return `${done}, up to line ${lastLine}\nResume${input}: ${resumingCommand(args, lastLine + 1)}`
}

/** The same command with another `--from-line`, to paste into a shell. */
function resumingCommand(args: readonly string[], line: number): string {
  const kept = args.filter(
    (word, index) => !/^--from-line(=|$)/.test(word) && args[index - 1] !== '--from-line',
  )
  const [command = 'import', ...rest] = kept
  return ['strand', command, '--from-line', String(line), ...rest.map(quoted)].join(' ')
}

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
