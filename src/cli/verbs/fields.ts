import { type Operation, queryParametersOf } from '../../contract/operation.ts'
import type { Verb } from './verb.ts'

/** One field of an operation's input, as the command line offers it. */
export interface Field {
  /** As the contract has it: `owner_user_id`. */
  readonly name: string
  /** As a person says it: `owner-user`. */
  readonly flag: string
  readonly kind: 'text' | 'integer' | 'yes-no' | 'list' | 'other'
  readonly choices: readonly string[] | undefined
  readonly low: number | undefined
  readonly high: number | undefined
  /** Can be taken away from what is there: `--no-game`. */
  readonly removable: boolean
  readonly required: boolean
  readonly meaning: string
  /** What a value is called in help. */
  readonly sample: string
}

interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly hint?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Where an id of a user is expected, a login will do. */
const USERS = new Set(['user_id', 'broadcaster_id', 'editor_id', 'owner_user_id'])

export const isUser = (name: string) => USERS.has(name)

/** For people, where the names and words of the contract are a programmer's. */
const MEANINGS: Readonly<Record<string, string>> = {
  organization_id: 'an organization, by id',
  game_id: 'a game, by id',
  benefit_id: 'a benefit, by id',
  client_id: 'a client, by id',
  login: 'the name to log in with',
  display_name: 'the name that is shown',
  scopes: 'what the token is good for',
  tags: 'a word about the channel',
  redirect_uris: 'where the browser may be sent back to',
  is_mature: 'for adults only',
  vod_enabled: 'keep videos of streams',
  implicit_grant: 'tokens by response_type=token',
  device_flow: 'tokens by the device flow; default: on for public clients, off for confidential ones',
  expires_in: 'seconds until the token runs out',
  grace_seconds: 'how long the old key stays good',
  advance_seconds: 'how far to move the clock',
}

/** The names that differ from those of the contract. */
const FLAGS: Readonly<Record<string, string>> = { organization_id: 'org' }

/** Every field that a verb takes, path first. For a verb that takes many things at once, those of one thing. */
export function fieldsOf({ operation, bulk }: Verb): Field[] {
  const body = operation.body as JsonSchema | undefined
  const things = bulk === undefined ? body : body?.properties?.[bulk]?.items
  return [
    ...readFields(operation.params as JsonSchema | undefined),
    ...readFields(queryOf(operation)),
    ...readFields(things, operation.method === 'PUT' || operation.method === 'PATCH'),
  ]
}

function queryOf(operation: Operation): JsonSchema {
  return queryParametersOf(operation) as unknown as JsonSchema
}

function readFields(schema: JsonSchema | undefined, changes = false): Field[] {
  const required = new Set(schema?.required)
  return Object.entries(schema?.properties ?? {}).map(([name, each]) => {
    const variants = each.anyOf ?? [each]
    const main = variants.find(variant => variant.type !== 'null') ?? each
    const inner = main.type === 'array' ? (main.items ?? {}) : main
    return {
      name,
      flag: flagOf(name, main.type === 'array'),
      kind: kindOf(main),
      choices: inner.enum,
      low: inner.minimum,
      high: inner.maximum,
      removable: changes && (main.type === 'array' || variants.some(variant => variant.type === 'null')),
      required: required.has(name),
      meaning: meaningOf(name, { ...main, ...(each.description && { description: each.description }) }),
      sample: sampleOf(name, main),
    }
  })
}

function kindOf({ type, enum: choices }: JsonSchema): Field['kind'] {
  if (type === 'integer') return 'integer'
  if (type === 'boolean') return 'yes-no'
  if (type === 'array') return 'list'
  return type === 'string' || choices !== undefined ? 'text' : 'other'
}

/** `game_id` is said `--game`, and of many tags each is a `--tag`. */
function flagOf(name: string, isList: boolean): string {
  const one = isList ? name.replace(/s$/, '') : name
  return FLAGS[name] ?? one.replace(/_id$/, '').replaceAll('_', '-')
}

function meaningOf(name: string, schema: JsonSchema): string {
  if (isUser(name)) return `${name.replace(/_id$/, '').replaceAll('_', ' ')}, by id or login`
  const words = MEANINGS[name] ?? schema.description ?? schema.hint ?? name.replaceAll('_', ' ')
  const plain = words.replaceAll('`', '').replace(/\.$/, '')
  return schema.type === 'array' ? `${plain}; can be repeated` : plain
}

function sampleOf(name: string, { type, items }: JsonSchema): string {
  if (type === 'array') return sampleOf(name.replace(/s$/, ''), items ?? {})
  if (type === 'integer') return 'number'
  if (isUser(name)) return 'user'
  if (name.endsWith('_id') || name === 'id') return 'id'
  return /_at$|timestamp|since|until/.test(name) ? 'time' : 'text'
}

/** Fields that stand without a flag, in order. */
export function argumentsOf(verb: Verb): Field[] {
  const inPath = Object.keys(verb.operation.params?.properties ?? {})
  const names = [...inPath, ...(verb.arguments ?? [])]
  const fields = fieldsOf(verb)
  return names.flatMap(name => fields.filter(field => field.name === name))
}

/** Fields that are flags. */
export function flagsOf(verb: Verb): Field[] {
  const stated = new Set([...argumentsOf(verb).map(field => field.name), verb.secret])
  return fieldsOf(verb).filter(({ name, kind }) => !stated.has(name) && kind !== 'other')
}

/** How a field is said on the command line: `<login>`, or `--login`; undefined if it is not. */
export function flagFor(name: string, verb: Verb): string | undefined {
  const argument = argumentsOf(verb).find(field => field.name === name)
  if (argument !== undefined) return `<${argument.flag}>`
  const flag = flagsOf(verb).find(field => field.name === name)
  return flag && `--${flag.flag}`
}

/** One that lists numbers by user, such as viewers. */
export function isRecord({ bulk, operation }: Verb): boolean {
  const schema = bulk === undefined ? undefined : operation.body?.properties[bulk]
  return schema !== undefined && 'patternProperties' in schema
}

/** The field that is read from standard input. */
export function secretOf(verb: Verb): Field | undefined {
  return fieldsOf(verb).find(field => field.name === verb.secret)
}

/** The number that a text is, or what is wrong with it. */
export function wholeNumber(
  text: string,
  { low = 0, high = Number.MAX_SAFE_INTEGER }: Field,
): { value: number; violation?: string } {
  const value = Number(text)
  if (/^[0-9]{1,15}$/.test(text) && value >= low && value <= high) return { value }
  return { value, violation: `Give a whole number from ${low} to ${high}.` }
}
