import { Command } from 'commander'
import { nearestName } from '../../kit/nearest.ts'
import { UsageError } from '../usage-error.ts'
import { visibleAt } from './command-tree.ts'

/** `strand help user create`. The one that comes with the command parser takes a single word. */
export const helpCommand = new Command('help')
  .description('show the help of a command')
  .argument('[command...]', 'words of the command')
  .action((words: readonly string[], _flags: unknown, { parent }: Command) => {
    if (parent !== null) commandAt(parent, words).outputHelp()
  })

function commandAt(program: Command, words: readonly string[]): Command {
  return words.reduce((at, word) => {
    const { commands } = visibleAt(at)
    const found = commands.find(each => each.name() === word)
    if (found !== undefined) return found
    const nearest = nearestName(
      word,
      commands.map(each => each.name()),
    )
    const path = [...pathOf(at), word].join(' ')
    throw new UsageError(
      `unknown command '${path}'${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
    )
  }, program)
}

/** The words that lead to a command, with `strand` in front. */
function pathOf(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...pathOf(command.parent), command.name()]
}
