import { isoMillis } from '../kit/clock.ts'

/** What the audit log calls whoever works on the store itself. */
export const COMMAND_LINE = 'strand'

/** Whoever changes the store with a command is recorded as the command, in the chain of operators: more is not known of them. */
export function commandLine(operation: string) {
  return { actor: COMMAND_LINE, operation, chain: 'operator', at: isoMillis(Date.now()) }
}
