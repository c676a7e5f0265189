import { createInterface } from 'node:readline/promises'
import { OperatorError } from '../../kit/operator-error.ts'
import { UsageError } from '../usage-error.ts'

/** Asks a person before something that cannot be undone. `--yes` answers for them; without a terminal it is required. */
export async function confirm(question: string, yes = false): Promise<boolean> {
  if (yes) return true
  if (process.stdin.isTTY !== true) throw new UsageError(`${question} Confirm with --yes.`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}

/** Asks, and ends the command unless the answer is yes. */
export async function requireConfirmation(question: string, yes: boolean | undefined): Promise<void> {
  if (!(await confirm(question, yes))) throw new OperatorError('canceled: nothing was changed')
}
