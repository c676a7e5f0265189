/** How long callers wait for a write, the same on both engines. */
import type { CommandName } from '../commands/index.ts'

/** A write is never cancelled once it has begun, but its caller is not kept waiting: whether it happened is unknown then. */
export const WRITE_MILLISECONDS = 3000
/** Many commands in one, such as a whole world. */
const LONG_WRITE_MILLISECONDS = 60_000
const LONG_COMMANDS: ReadonlySet<CommandName> = new Set(['runSteps', 'importLines'])

export function writeMilliseconds(name: CommandName): number {
  return LONG_COMMANDS.has(name) ? LONG_WRITE_MILLISECONDS : WRITE_MILLISECONDS
}
