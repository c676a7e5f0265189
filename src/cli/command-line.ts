import { isoMillis } from '../kit/clock.ts'

/** Whoever changes the store with a command is recorded as the command, in the chain of operators: more is not known of them. */
export function commandLine(operation: string) {
  return { actor: 'strand', operation, chain: 'operator', at: isoMillis(Date.now()) }
}
