import { type Command, Option } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_INPUT_FILE, readSmallFile, readSmallInput } from '../../kit/small-file.ts'
import { readSecret } from '../read-secret.ts'
import { UsageError } from '../usage-error.ts'
import { argumentsOf, type Field, flagsOf, isRecord, secretOf, wholeNumber } from './fields.ts'
import type { Verb } from './verb.ts'

/** What was said behind the verb, by name of field. */
export type Input = Record<string, unknown>

/** Reads what a command was given. Nothing is asked of the server yet. */
export async function readInput(command: Command, verb: Verb): Promise<Input> {
  const options: Input = command.opts()
  const input: Input = {}
  argumentsOf(verb).forEach((field, place) => {
    input[field.name] = argumentValue(field, String(command.processedArgs[place] ?? ''))
  })
  for (const field of flagsOf(verb)) {
    const value = options[new Option(`--${field.flag}`).attributeName()]
    if (value === '' && verb.operation.method === 'GET') {
      // The server would pass over it and list everything.
      throw new UsageError(`--${field.flag} is empty: leave it out or give a value`)
    }
    if (value !== undefined) input[field.name] = flagValue(field, value)
  }
  const secret = secretOf(verb)
  if (secret !== undefined && (secret.required || options[`${secret.flag}Stdin`] === true)) {
    input[secret.name] = await secretValue(secret)
  }
  if (verb.bulk === undefined) {
    requireAll(command, verb, input)
    requireChange(command, verb, input)
    return input
  }
  return bulkInput(command, verb, verb.bulk, input)
}

/** An empty or dotted word would lead to another path. */
function argumentValue(field: Field, text: string): unknown {
  if (/^\.{0,2}$/.test(text)) throw new UsageError(`<${field.flag}> cannot be "${text}"`)
  if (field.kind !== 'integer') return text
  const { value, violation } = wholeNumber(text, field)
  if (violation !== undefined) throw new UsageError(`<${field.flag}> cannot be "${text}". ${violation}`)
  return value
}

/** `--no-game` is said for null, `--no-tag` for no tags at all. */
function flagValue({ kind }: Field, value: unknown): unknown {
  if (value !== false || kind === 'yes-no') return value
  return kind === 'list' ? [] : null
}

function requireAll(command: Command, verb: Verb, input: Input): void {
  const missing = flagsOf(verb).filter(({ name, required }) => required && input[name] === undefined)
  if (missing.length === 0) return
  const flags = missing.map(field => `--${field.flag}`)
  throw new UsageError(`strand ${verb.words} needs ${flags.join(' and ')}; see ${helpOf(command)}`)
}

/** To edit nothing is hardly what was meant. */
function requireChange(command: Command, verb: Verb, input: Input): void {
  if (verb.operation.method !== 'PATCH' || Object.keys(input).length > argumentsOf(verb).length) return
  throw new UsageError(`strand ${verb.words} needs a flag that says what to change; see ${helpOf(command)}`)
}

const helpOf = (command: Command) => `strand ${pathOf(command)} --help`

/** The words that lead to a command. */
function pathOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name()
}

async function bulkInput(command: Command, verb: Verb, bulk: string, input: Input): Promise<Input> {
  const { body } = command.opts<{ body?: string }>()
  const pairs = isRecord(verb) ? ((command.processedArgs.at(-1) ?? []) as string[]) : []
  if (body !== undefined) {
    if (Object.keys(input).length + pairs.length === 0) return readBody(body)
    throw new UsageError('--body has everything in it: give it alone')
  }
  if (isRecord(verb)) return { [bulk]: readPairs(command, verb, pairs) }
  requireAll(command, verb, input)
  return { [bulk]: [input] }
}

function readPairs(command: Command, verb: Verb, pairs: readonly string[]): Record<string, number> {
  if (pairs.length === 0) {
    throw new UsageError(`strand ${verb.words} needs USER=NUMBER or --body; see ${helpOf(command)}`)
  }
  // Entries, because a login may be __proto__.
  return Object.fromEntries(
    pairs.map(pair => {
      const [, user = '', count = ''] = /^(.+)=([0-9]{1,15})$/.exec(pair) ?? []
      if (user === '') throw new UsageError(`"${pair}" is not of the form USER=NUMBER`)
      return [user, Number(count)]
    }),
  )
}

async function readBody(file: string): Promise<Input> {
  let text: string
  try {
    text =
      file === '-'
        ? await readSmallInput(Bun.stdin.stream(), MAX_INPUT_FILE)
        : readSmallFile(file, MAX_INPUT_FILE)
  } catch (error) {
    throw new OperatorError(`--body ${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Input
  } catch {}
  throw new OperatorError(`--body ${file} must be a JSON object`)
}

async function secretValue({ flag }: Field): Promise<string> {
  const line = await readSecret(`The ${flag}`)
  if (line !== '') return line
  throw new UsageError(`give the ${flag} on standard input`)
}
