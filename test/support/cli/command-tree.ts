import type { Command } from 'commander'
import { placesUnder } from '../../../src/cli/help/command-tree.ts'
import { createProgram } from '../../../src/cli/program.ts'

/** A command that does something, the words that lead to it, and its help. */
export interface Leaf {
  readonly words: string
  readonly help: string
  /** The lines that its help gives as examples. */
  readonly examples: readonly string[]
}

/** Every command that does something, hidden ones apart. */
export async function leaves(): Promise<Leaf[]> {
  return placesUnder(await createProgram())
    .filter(({ commands }) => commands.length === 0)
    .map(({ command, path }) => {
      const help = helpOf(command)
      return { words: path, help, examples: examplesIn(help) }
    })
}

function examplesIn(help: string): string[] {
  const [, listed = ''] = /\nExamples?:\n((?: {2}.*\n?)+)/.exec(help) ?? []
  return listed
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

/** The output of `--help`, independent of the terminal. */
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
