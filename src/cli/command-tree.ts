import type { Command, Option } from 'commander'

/** A command in the tree of words, and what can follow it. */
export interface Place {
  readonly command: Command
  /** The words that lead there; empty for `strand` itself. */
  readonly path: string
  readonly commands: readonly Command[]
  readonly options: readonly Option[]
}

/** Every place of the tree that people are shown, each before those below it. */
export function placesUnder(command: Command, path = ''): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command).filter(each => each.name() !== 'help')
  const options = help.visibleOptions(command).filter(option => option.long !== undefined)
  const below = commands.flatMap(each => placesUnder(each, `${path} ${each.name()}`.trim()))
  return [{ command, path, commands, options }, ...below]
}

/** What `--help` prints, on every machine the same. */
export function helpOf(command: Command): string {
  let help = ''
  command
    .configureOutput({
      writeOut: text => {
        help += text
      },
      getOutHelpWidth: () => 110,
      getOutHasColors: () => false,
    })
    .outputHelp()
  return help
}
