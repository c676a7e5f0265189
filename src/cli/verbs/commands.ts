import { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { utcFlag } from '../terminal/time.ts'
import { addInput } from './add-input.ts'
import { withNames } from './fields.ts'
import { runVerb } from './run.ts'
import { NOUNS, verbs } from './table.ts'
import { targetFlags } from './target.ts'
import { mayAsk, type Verb } from './verb.ts'

/** Whether a command line can begin with it. */
export const isNoun = (word: string) => Object.hasOwn(NOUNS, word) && !word.includes(' ')

/** The commands of all nouns or of one, each with its verbs and the handwritten commands below it. */
export async function nounCommands(
  handwritten: Readonly<Record<string, () => Promise<readonly Command[]>>>,
  only?: string,
): Promise<Command[]> {
  const isWanted = (noun: string) => only === undefined || noun === only
  const nouns = new Map<string, Command>()
  for (const verb of verbs) {
    const words = verb.words.split(' ')
    if (!isWanted(words[0] ?? '')) continue
    const name = words.pop() ?? ''
    findNoun(nouns, words).addCommand(verbCommand(verb, name))
  }
  for (const [noun, load] of Object.entries(handwritten)) {
    if (isWanted(noun)) for (const command of await load()) findNoun(nouns, [noun]).addCommand(command)
  }
  return [...nouns].filter(([words]) => !words.includes(' ')).map(([, command]) => command)
}

/** The command of a noun, created on first use. A noun may be below another: `org member`. */
function findNoun(nouns: Map<string, Command>, words: readonly string[]): Command {
  const path = words.join(' ')
  const known = nouns.get(path)
  if (known !== undefined) return known
  const noun = new Command(words.at(-1)).description(NOUNS[path] ?? '').helpGroup('Resources:')
  nouns.set(path, noun)
  if (words.length > 1) findNoun(nouns, words.slice(0, -1)).addCommand(noun)
  return noun
}

function verbCommand(verb: Verb, name: string): Command {
  const { operation, examples } = verb
  const command = new Command(name)
    .summary(withNames(formatSummary(operation), namesIn(verb)))
    .description(withNames(formatDescription(operation), namesIn(verb)))
  addInput(command, verb)
  if (operation.page !== undefined) {
    command.option('--all', 'list all pages')
    command.option('--watch', 'repaint the list every two seconds until Ctrl-C, on a terminal')
  }
  if (mayAsk(verb) || verb.reveals !== undefined) command.option('--yes', 'do not ask for confirmation')
  if (operation.answerFile === undefined && operation.answerLines === undefined) {
    command.option('--json', 'print the response as JSON')
    if (operation.returns !== undefined) utcFlag(command)
  } else {
    command.option('--output <file>', 'file to write; default: standard output')
    command.option('--yes', 'overwrite the file if it exists')
  }
  targetFlags(command)
  const title = examples.length === 1 ? 'Example' : 'Examples'
  command.addHelpText('after', `\n${title}:\n${examples.map(each => `  strand ${each}`).join('\n')}`)
  return command.action(() => runVerb(verb, command))
}

/** What descriptions of the contract call by names of the API: the flags of this command, and the other commands. */
const namesIn = ({ fields }: Verb): ReadonlyMap<string, string> =>
  new Map([
    ...verbs.map(({ operation, words }) => [operation.id, `strand ${words}`] as const),
    ...fields.map(({ name, shown }) => [name, shown] as const),
  ])

/** The first sentence of the contract, as help pages write it: lower case, without a full stop. */
function formatSummary({ summary }: Operation): string {
  const [first = summary] = summary.split(/\.(?: |$)/)
  return first.charAt(0).toLowerCase() + first.slice(1)
}

/** The summary, and a paragraph with what the contract adds to it. */
function formatDescription(operation: Operation): string {
  const { summary, description, demoOnly } = operation
  const further = summary.slice(formatSummary(operation).length + 2)
  const details = [further, description, demoOnly && 'Works in demo mode only.'].filter(Boolean).join(' ')
  return details === '' ? formatSummary(operation) : `${formatSummary(operation)}\n\n${details}`
}
