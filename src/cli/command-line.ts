import { isoMillis } from '../kit/time/clock.ts'

/** The actor that the audit log records for changes made by a command on the store. */
export const COMMAND_LINE = 'strand'

/** Attribution of a change in the audit log: to the command, in the chain of operators, because the person is unknown. */
export function commandLine(operation: string) {
  return { actor: COMMAND_LINE, operation, chain: 'operator', at: isoMillis(Date.now()) }
}
