import { OperatorError } from '../../kit/operator-error.ts'
import { UsageError } from '../usage-error.ts'

/** Asks for confirmation unless `--yes` is given, which is required without a terminal. */
async function confirm(question: string, yes = false): Promise<boolean> {
  if (yes) return true
  if (process.stdin.isTTY !== true) throw new UsageError(`${question} Confirm with --yes.`)
  // Loaded here: few commands ask, and every command would wait for it.
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}

/** Asks for confirmation, and throws unless the answer is yes. */
export async function requireConfirmation(question: string, yes: boolean | undefined): Promise<void> {
  if (!(await confirm(question, yes))) throw new OperatorError('canceled: nothing was changed')
}
