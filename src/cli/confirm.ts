import { createInterface } from 'node:readline/promises'
import { UsageError } from './usage-error.ts'

/**
 * Asks a person whether something that cannot be undone is to be done. `--yes` answers for the person; where nobody can be
 * asked, that is what is missing.
 */
export async function confirm(question: string, yes: boolean): Promise<boolean> {
  if (yes) return true
  if (process.stdin.isTTY !== true) throw new UsageError(`${question} Say --yes to do it.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
