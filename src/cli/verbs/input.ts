import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Client } from '../../client/index.ts'
import { CannotStart } from '../../kit/cannot-start.ts'
import { CalledWrongly } from '../called-wrongly.ts'
import { type Field, fieldsOf, isUser } from './fields.ts'
import type { Verb } from './verb.ts'

/** What was said behind the verb, by name of field. */
export type Input = Record<string, unknown>

/** Fields that stand without a flag, in order. */
function argumentsOf(verb: Verb): Field[] {
  const inPath = Object.keys(verb.operation.params?.properties ?? {})
  const names = [...inPath, ...(verb.arguments ?? [])]
  const fields = fieldsOf(verb)
  return names.flatMap(name => fields.filter(field => field.name === name))
}

/** Fields that are flags. */
function flagsOf(verb: Verb): Field[] {
  const stated = new Set([...argumentsOf(verb).map(field => field.name), verb.secret])
  return fieldsOf(verb).filter(({ name, kind }) => !stated.has(name) && kind !== 'other')
}

/** Adds the arguments and flags of a verb to its command. */
export function offerInput(command: Command, verb: Verb): void {
  for (const field of argumentsOf(verb)) command.argument(`<${field.flag}>`, field.meaning)
  for (const field of flagsOf(verb)) for (const option of optionsOf(field)) command.addOption(option)
  if (isRecord(verb)) command.argument('[user=number...]', 'a user, by id or login, and a number')
  if (verb.bulk !== undefined) {
    command.option('--body <file>', 'many at once: the body of the request as JSON; - is standard input')
  }
  const secret = secretOf(verb)
  if (secret !== undefined && !secret.required) {
    command.option(`--${secret.flag}-stdin`, `read the ${secret.flag} from standard input`)
  }
}

/** One that lists numbers by user, such as viewers. */
function isRecord({ bulk, operation }: Verb): boolean {
  const schema = bulk === undefined ? undefined : operation.body?.properties[bulk]
  return schema !== undefined && 'patternProperties' in schema
}

function secretOf(verb: Verb): Field | undefined {
  return fieldsOf(verb).find(field => field.name === verb.secret)
}

function optionsOf(field: Field): Option[] {
  const { flag, kind, choices, nullable, required, meaning } = field
  const words = `${meaning}${rangeOf(field)}${required ? ' (required)' : ''}`
  if (kind === 'yes-no') {
    return [new Option(`--${flag}`, words), new Option(`--no-${flag}`, 'switch it off')]
  }
  const option = new Option(`--${flag} <${field.sample}>`, words)
  if (kind === 'integer') option.argParser(text => wholeNumber(text, field))
  else if (kind === 'list') option.argParser((text, before: string[] = []) => [...before, text])
  else if (choices !== undefined) option.choices(choices)
  if (kind === 'list' && choices !== undefined) option.argChoices = [...choices]
  const canBeTakenAway = nullable || (kind === 'list' && field.name.endsWith('s'))
  return canBeTakenAway ? [option, new Option(`--no-${flag}`, 'none any more')] : [option]
}

function rangeOf({ kind, low, high }: Field): string {
  return kind === 'integer' && low !== undefined && high !== undefined ? `, ${low} to ${high}` : ''
}

function wholeNumber(text: string, { low = 0, high = Number.MAX_SAFE_INTEGER }: Partial<Field>): number {
  const value = Number(text)
  if (/^[0-9]{1,15}$/.test(text) && value >= low && value <= high) return value
  throw new InvalidArgumentError(`Give a whole number from ${low} to ${high}.`)
}

/** Reads what a command was given. Nothing is asked of the server yet. */
export async function readInput(command: Command, verb: Verb): Promise<Input> {
  const options: Input = command.opts()
  const input: Input = {}
  argumentsOf(verb).forEach((field, place) => {
    input[field.name] = argumentValue(field, String(command.processedArgs[place] ?? ''))
  })
  for (const field of flagsOf(verb)) {
    const value = options[new Option(`--${field.flag}`).attributeName()]
    if (value !== undefined) input[field.name] = flagValue(field, value)
  }
  const secret = secretOf(verb)
  if (secret !== undefined && (secret.required || options[`${secret.flag}Stdin`] === true)) {
    input[secret.name] = await firstLine(secret.flag)
  }
  if (verb.bulk === undefined) {
    requireAll(command, verb, input)
    return input
  }
  return bulkInput(command, verb, verb.bulk, input)
}

/** An empty or dotted word would lead to another path. */
function argumentValue(field: Field, text: string): unknown {
  if (/^\.{0,2}$/.test(text)) throw new CalledWrongly(`<${field.flag}> cannot be "${text}"`)
  return field.kind === 'integer' ? wholeNumberArgument(field, text) : text
}

function wholeNumberArgument(field: Field, text: string): number {
  try {
    return wholeNumber(text, field)
  } catch (error) {
    throw new CalledWrongly(`<${field.flag}> cannot be "${text}". ${(error as Error).message}`)
  }
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
  throw new CalledWrongly(`strand ${verb.words} needs ${flags.join(' and ')}; see ${helpOf(command)}`)
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
    throw new CalledWrongly('--body has everything in it: give it alone')
  }
  if (isRecord(verb)) return { [bulk]: readPairs(command, verb, pairs) }
  requireAll(command, verb, input)
  return { [bulk]: [input] }
}

function readPairs(command: Command, verb: Verb, pairs: readonly string[]): Record<string, number> {
  if (pairs.length === 0) {
    throw new CalledWrongly(`strand ${verb.words} needs USER=NUMBER or --body; see ${helpOf(command)}`)
  }
  const counts: Record<string, number> = {}
  for (const pair of pairs) {
    const [, user = '', count = ''] = /^(.+)=([0-9]{1,15})$/.exec(pair) ?? []
    if (user === '') throw new CalledWrongly(`"${pair}" is not of the form USER=NUMBER`)
    counts[user] = Number(count)
  }
  return counts
}

async function readBody(file: string): Promise<Input> {
  let text: string
  try {
    text = file === '-' ? await Bun.stdin.text() : readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotStart(`--body ${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Input
  } catch {}
  throw new CannotStart(`--body ${file} must be a JSON object`)
}

async function firstLine(what: string): Promise<string> {
  const [line = ''] = (await Bun.stdin.text()).split(/\r?\n/)
  if (line !== '') return line
  throw new CalledWrongly(`give the ${what} on standard input`)
}

/** Puts ids where logins were given. */
export async function nameUsers(client: Client, verb: Verb, input: Input): Promise<Input> {
  const named: Input = {}
  for (const [name, value] of Object.entries(input)) {
    if (isUser(name) && typeof value === 'string') named[name] = await userIdOf(client, value)
    else if (name !== verb.bulk) named[name] = value
    else if (isRecord(verb)) named[name] = await nameKeys(client, value as Record<string, number>)
    else named[name] = await Promise.all((value as Input[]).map(thing => nameUsers(client, verb, thing)))
  }
  return named
}

async function nameKeys(client: Client, counts: Readonly<Record<string, number>>) {
  const named: Record<string, number> = {}
  for (const [user, count] of Object.entries(counts)) named[await userIdOf(client, user)] = count
  return named
}

/** A number is an id; anything else is a login, and so is a number behind an @. */
export async function userIdOf(client: Client, given: string): Promise<string> {
  if (/^[0-9]+$/.test(given)) return given
  const login = given.replace(/^@/, '')
  // An empty filter would match everybody.
  const { data } = login === '' ? { data: [] } : await client.control.listUsers({ login })
  const user = data.find(each => each.login === login.toLowerCase())
  if (user === undefined) throw new CannotStart(`there is no user with the login "${login}"`)
  return user.id
}
