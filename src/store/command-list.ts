import { isRefusal } from '../contract/problem.ts'
import * as writes from './commands/index.ts'
import type { Transaction } from './database.ts'
import { importLines } from './transfer/import-lines.ts'
import { addStagedEntitlements, stageEntitlements } from './transfer/staging.ts'

const single = { ...writes, importLines, stageEntitlements, addStagedEntitlements }

type Single = typeof single

/** A command with its arguments, as a value. */
export type Step = { [N in keyof Single]: readonly [name: N, args: Parameters<Single[N]>[1]] }[keyof Single]

/** Runs several commands in one transaction: a demo's data is created completely or not at all. */
async function runSteps(tx: Transaction, args: { steps: readonly Step[] }): Promise<void> {
  for (const [name, stepArgs] of args.steps) {
    const command = single[name] as (tx: Transaction, args: unknown) => Promise<unknown>
    const result = await command(tx, stepArgs)
    if (isRefusal(result)) throw new Error(`${name} was refused: ${JSON.stringify(result)}`)
  }
}

export const commands = { ...single, runSteps }

type Commands = typeof commands
export type CommandName = keyof Commands
export type CommandArgs<N extends CommandName> = Parameters<Commands[N]>[1]
export type CommandResult<N extends CommandName> = Awaited<ReturnType<Commands[N]>>

/**
 * Commands that may share a transaction with others, by the user that each is about: the channel, or the viewer who claims.
 * They change only what belongs to that user, so those about different users are independent, whatever the order of their
 * statements.
 */
const GROUPED: { readonly [N in CommandName]?: (args: CommandArgs<N>) => string } = {
  startStream: args => args.user_id,
  endStream: args => args.user_id,
  changeChannel: args => args.user_id,
  modifyChannel: args => args.user_id,
  claimDrop: args => args.user_id,
}

/** The user of a command that may share a transaction; undefined for other commands. */
export function groupedUser({
  name,
  args,
}: {
  readonly name: CommandName
  readonly args: unknown
}): string | undefined {
  return GROUPED[name]?.(args as never)
}
