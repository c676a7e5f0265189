/** How long callers wait for a write, the same on both engines. */
import type { CommandName } from '../command-list.ts'

/**
 * Callers stop waiting then. What a write has begun is not cancelled on SQLite, nor the commit on PostgreSQL: its outcome is
 * unknown.
 */
export const WRITE_MILLISECONDS = 3000
/** For commands that contain many others. */
const LONG_WRITE_MILLISECONDS = 60_000
const LONG_COMMANDS: ReadonlySet<CommandName> = new Set(['runSteps', 'importLines', 'stageEntitlements'])
/** For commands that write a whole table or index. */
const BULK_WRITE_MILLISECONDS = 600_000
const BULK_COMMANDS: ReadonlySet<CommandName> = new Set(['addStagedEntitlements', 'restoreIndex'])

export function writeMilliseconds(name: CommandName): number {
  if (BULK_COMMANDS.has(name)) return BULK_WRITE_MILLISECONDS
  return LONG_COMMANDS.has(name) ? LONG_WRITE_MILLISECONDS : WRITE_MILLISECONDS
}
