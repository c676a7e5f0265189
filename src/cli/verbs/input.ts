import { type Command, Option } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_INPUT_FILE, readSmallFile, readSmallInput } from '../../kit/small-file.ts'
import { readSecret } from '../terminal/read-secret.ts'
import { UsageError } from '../usage-error.ts'
import { type Field, listArguments, listFlags, type Verb } from './verb.ts'

/** The given fields, by name. */
export type Input = Record<string, unknown>

/** Reads the arguments and flags of a command. Sends nothing to the server. */
export async function readInput(command: Command, verb: Verb): Promise<Input> {
  const options: Input = command.opts()
  const input: Input = {}
  for (const [place, { name }] of listArguments(verb).entries()) input[name] = command.processedArgs[place]
  for (const field of listFlags(verb)) {
    const value = options[new Option(field.shown).attributeName()]
    if (value !== undefined) input[field.name] = resolveRemoval(field, value)
  }
  const secret = verb.fields.find(field => field.place === 'secret')
  if (secret !== undefined && (secret.required || options[`${secret.word}Stdin`] === true)) {
    input[secret.name] = await secretValue(secret)
  }
  if (verb.bulk !== undefined) return bulkInput(command, verb, verb.bulk, input)
  const { body } = command.opts<{ body?: string }>()
  if (verb.takesBody && body !== undefined) return { ...(await readBody(body)), ...input }
  requireAll(verb, input)
  if (verb.operation.method === 'PATCH' && Object.keys(input).length === listArguments(verb).length) {
    throw incomplete(verb, 'a flag with the change to make')
  }
  return input
}

/** `--no-game` means null, `--no-tag` an empty list. */
function resolveRemoval({ kind }: Field, value: unknown): unknown {
  if (value !== false || kind === 'yes-no') return value
  return kind === 'list' ? [] : null
}

function requireAll(verb: Verb, input: Input): void {
  const missing = listFlags(verb).filter(({ name, required }) => required && input[name] === undefined)
  if (missing.length > 0) throw incomplete(verb, missing.map(({ shown }) => shown).join(' and '))
}

function incomplete({ words }: Verb, what: string): UsageError {
  return new UsageError(`strand ${words} requires ${what}; see strand ${words} --help`)
}

async function bulkInput(command: Command, verb: Verb, bulk: string, input: Input): Promise<Input> {
  const { body } = command.opts<{ body?: string }>()
  const pairs = verb.takesPairs ? ((command.processedArgs.at(-1) ?? []) as string[]) : []
  if (body !== undefined) {
    if (Object.keys(input).length + pairs.length === 0) return readBody(body)
    throw new UsageError('--body cannot be combined with other fields')
  }
  if (!verb.takesPairs) {
    requireAll(verb, input)
    return { [bulk]: [input] }
  }
  if (pairs.length === 0) throw incomplete(verb, 'USER=NUMBER or --body')
  // fromEntries is safe for a login like __proto__.
  return { [bulk]: Object.fromEntries(pairs.map(readPair)) }
}

function readPair(pair: string): [user: string, count: number] {
  const [, user = '', count = ''] = /^(.+)=([0-9]{1,15})$/.exec(pair) ?? []
  if (user === '') throw new UsageError(`invalid argument "${pair}": must be USER=NUMBER`)
  return [user, Number(count)]
}

async function readBody(file: string): Promise<Input> {
  let text: string
  try {
    text =
      file === '-'
        ? await readSmallInput(Bun.stdin.stream(), MAX_INPUT_FILE)
        : readSmallFile(file, MAX_INPUT_FILE)
  } catch (error) {
    throw new OperatorError(`cannot read --body ${file}: ${(error as Error).message}`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Input
  } catch {}
  throw new OperatorError(`invalid --body ${file}: must be a JSON object`)
}

async function secretValue({ word }: Field): Promise<string> {
  const line = await readSecret(`Enter the ${word}`)
  if (line !== '') return line
  throw new UsageError(`missing ${word}: give it on standard input`)
}
