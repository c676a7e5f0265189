import type { Command } from 'commander'
import { nearestName } from '../../kit/nearest.ts'
import { UsageError } from '../usage-error.ts'
import { placesUnder, visibleAt } from './command-tree.ts'

/** More than these would be a list, which the help page is for. */
const MAX_SUGGESTED = 3

/** An error that leads on: to what was probably meant, or else to the list of commands. */
export function unknownCommand(at: Command, word: string): UsageError {
  const path = pathTo(at).join(' ')
  const meant = suggestions(at, word)
  const advice =
    meant.length > 0
      ? `did you mean ${meant.map(each => `${path} ${each}`).join(' or ')}?`
      : `${path} --help lists the commands`
  return new UsageError(`unknown command '${path} ${word}': ${advice}`)
}

/** Commands whose name is the word further down, such as `stream start` for `start`; else the one with the nearest name. */
function suggestions(at: Command, word: string): string[] {
  const below = placesUnder(at).filter(({ path }) => path.endsWith(` ${word}`))
  if (below.length > 0 && below.length <= MAX_SUGGESTED) return below.map(({ path }) => path)
  const names = visibleAt(at).commands.map(each => each.name())
  return [nearestName(word, names) ?? []].flat()
}

/** The words that lead to a command, with `strand` in front. */
export function pathTo(command: Command): string[] {
  return command.parent === null ? [command.name()] : [...pathTo(command.parent), command.name()]
}
