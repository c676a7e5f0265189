import type { Command, Option } from 'commander'

/** A command in the tree of commands. */
export interface Place {
  readonly command: Command
  /** The words after `strand`; empty for `strand` itself. */
  readonly path: string
  readonly commands: readonly Command[]
}

/** Every visible command, parents first. */
export function placesUnder(command: Command, path = ''): Place[] {
  const { commands } = visibleAt(command)
  const below = commands.flatMap(each => placesUnder(each, `${path} ${each.name()}`.trim()))
  return [{ command, path, commands }, ...below]
}

/** The subcommands and flags of a command, without hidden ones. */
export function visibleAt(command: Command): { commands: Command[]; options: Option[] } {
  const help = command.createHelp()
  return {
    commands: help.visibleCommands(command).filter(each => each.name() !== 'help'),
    options: help.visibleOptions(command).filter(option => option.long !== undefined),
  }
}
