import { fieldNamed, isUser } from '../../contract/admin/fields.ts'
import type { Action } from '../../contract/admin/resource.ts'
import { queryParameters } from '../../contract/operation.ts'
import type { JsonSchema } from '../../contract/schema.ts'
import { lazy } from '../../kit/lazy.ts'
import type { Field, Verb } from './verb.ts'

/** Derives the fields of a verb from the contract, on first use: a command line has one verb. */
export function withFields(words: string, action: Action): Verb {
  const { operation, bulk } = action
  const body = operation.body as JsonSchema | undefined
  const list = bulk === undefined ? undefined : body?.properties?.[bulk]
  const changes = operation.method === 'PUT' || operation.method === 'PATCH'
  const fields = lazy(() => [
    ...readFields(action, operation.params as JsonSchema | undefined),
    ...readFields(action, queryParameters(operation) as unknown as JsonSchema),
    ...readFields(action, bulk === undefined ? body : list?.items, changes),
  ])
  return {
    ...action,
    words,
    examples: action.examples.map(each => `${words} ${each}`.trim()),
    get fields() {
      return fields()
    },
    takesPairs: list !== undefined && 'patternProperties' in list,
  }
}

function readFields(action: Action, schema: JsonSchema | undefined, changes = false): Field[] {
  const shown = Object.entries(schema?.properties ?? {}).filter(
    ([, each]) => !(action.takesBody && each.items?.type === 'object'),
  )
  const flags = new Map(
    shown.map(([name, each]) => [name, `--${placeholderWord(name, each.type === 'array')}`]),
  )
  return shown.map(([name, each]) => {
    const variants = each.anyOf ?? [each]
    const main = variants.find(variant => variant.type !== 'null') ?? each
    const isList = main.type === 'array'
    const inner = isList ? (main.items ?? {}) : main
    const place = fieldPlace(action, name)
    const word = placeholderWord(name, isList)
    return {
      name,
      place,
      word,
      shown: place === 'argument' ? `<${word}>` : `--${word}`,
      kind: fieldKind(main),
      choices: inner.enum,
      min: inner.minimum ?? 0,
      max: inner.maximum,
      removable: changes && (isList || variants.some(variant => variant.type === 'null')),
      required: schema?.required?.includes(name) ?? false,
      meaning: describeField(action, name, each.description ?? main.description ?? main.hint, flags, isList),
      sample: sampleValue(isList ? name.replace(/s$/, '') : name, inner),
    }
  })
}

function fieldPlace({ operation, arguments: listed = [], secret }: Action, name: string): Field['place'] {
  if (name === secret) return 'secret'
  const inPath = Object.hasOwn(operation.params?.properties ?? {}, name)
  return inPath || listed.includes(name) ? 'argument' : 'flag'
}

function fieldKind({ type, enum: choices }: JsonSchema): Field['kind'] {
  if (type === 'integer' || type === 'number') return type
  if (type === 'boolean') return 'yes-no'
  if (type === 'array') return 'list'
  if (type === 'object') return 'pairs'
  return type === 'string' || choices !== undefined ? 'text' : 'other'
}

/** `game_id` becomes `--game`; each of the `tags` is a `--tag`. */
function placeholderWord(name: string, isList: boolean): string {
  const one = isList ? name.replace(/s$/, '') : name
  return fieldNamed(name).flag ?? one.replace(/_id$/, '').replaceAll('_', '-')
}

function describeField(
  { operation }: Action,
  name: string,
  described: string | undefined,
  flags: ReadonlyMap<string, string>,
  isList: boolean,
): string {
  const plain = name.replace(/_ids?$/, '').replaceAll('_', ' ')
  if (isUser(name)) return `id or login of the ${plain}${isList ? '; repeatable' : ''}`
  const own = `${plain} of the ${rowWord(operation.path, name)}`
  const known = fieldNamed(name).meaning ?? described ?? (name === 'id' || name === 'name' ? own : plain)
  // Some descriptions have the form of the value only.
  const meaning = /^(?:at most |\d)/i.test(known) ? `${own}: ${lowerFirst(known)}` : known
  const words = withNames(meaning, flags).replace(/\.$/, '')
  const text = lowerFirst(words)
  return isList ? `${text}; repeatable` : text
}

const lowerFirst = (text: string): string => text.replace(/^[A-Z](?=[a-z ])/, letter => letter.toLowerCase())

/** Puts flags, or the words of commands, in the place of names that the contract writes as code. */
export const withNames = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replace(/`([^`]*)`/g, (_, name: string) => names.get(name) ?? name)

/** What a row is called where this field is: `name` of `/control/media-servers/{name}` is that of a media server. */
function rowWord(path: string, field: string): string {
  const [before = ''] = path.split(`/{${field}}`)
  const last = before.split('/').findLast(each => !each.startsWith('{')) ?? ''
  return last.replace(/ies$/, 'y').replace(/s$/, '').replaceAll('-', ' ')
}

function sampleValue(name: string, { type }: JsonSchema): string {
  if (type === 'object') return 'name=value'
  if (type === 'integer' || type === 'number') return 'number'
  if (isUser(name)) return 'user'
  if (name.endsWith('_id') || name === 'id') return 'id'
  return /_at$|timestamp|since|until/.test(name) ? 'time' : 'text'
}
