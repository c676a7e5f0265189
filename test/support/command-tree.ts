import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'

/** A command that does something, the words that lead to it, and what its help says. */
export interface Leaf {
  readonly words: string
  readonly help: string
  /** The lines that its help gives as examples. */
  readonly examples: readonly string[]
}

/** Every command that does something, hidden ones apart. */
export function leaves(command: Command = createProgram(), path: readonly string[] = []): Leaf[] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter(each => each.name() !== 'help')
  if (below.length > 0) return below.flatMap(each => leaves(each, [...path, each.name()]))
  const help = helpOf(command)
  return [{ words: path.join(' '), help, examples: examplesIn(help) }]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: text => (help += text) }).outputHelp()
  return help
}

function examplesIn(help: string): string[] {
  const [, listed = ''] = /\nExamples?:\n((?: {2}.*\n?)+)/.exec(help) ?? []
  return listed
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}
