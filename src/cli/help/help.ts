import { Command } from 'commander'
import { visibleAt } from './command-tree.ts'
import { unknownCommand } from './unknown-command.ts'

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
    throw unknownCommand(at, word)
  }, program)
}
