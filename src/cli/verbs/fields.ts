import { queryParametersOf } from '../../contract/operation.ts'
import type { JsonSchema } from '../../contract/schema.ts'
import { lazily } from '../../kit/lazily.ts'
import type { Field, Verb, VerbRow } from './verb.ts'

/** Fields with the id of a user, for which a login can be given. */
const USERS = new Set(['user_id', 'broadcaster_id', 'editor_id', 'owner_user_id'])

export const isUser = (name: string) => USERS.has(name)

/** Descriptions for help, where the contract has none or one for programmers. */
const MEANINGS: Readonly<Record<string, string>> = {
  organization_id: 'id of an organization',
  game_id: 'id of a game',
  benefit_id: 'id of a benefit',
  client_id: 'id of a client',
  login: 'name to log in with',
  display_name: 'name as shown to others',
  description: 'text of the profile',
  broadcaster_type: 'rank of the broadcaster; "" for none',
  email: 'email address, shown only to the user and to clients with the scope user:read:email',
  igdb_id: 'id of the game at IGDB, or "" if unknown',
  scopes: 'scope of the token',
  tags: 'tag of the channel',
  redirect_uris: 'redirect URI',
  is_mature: 'for adults only',
  vod_enabled: 'keep videos of streams',
  delay: 'delay of the broadcast in seconds',
  content_classification_labels: 'label of the content',
  is_branded_content: 'shows branded content',
  followed_at: 'time of the follow, such as 2026-03-01T12:00:00Z; default: now',
  second_publisher: 'what happens if a second publisher comes while one is live',
  implicit_grant: 'allow the implicit grant (response_type=token)',
  device_flow: 'allow the device flow; default: on for public clients, off for confidential ones',
  entitlement_id: 'id of an entitlement',
  video_id: 'id of a video',
  viewer_count: 'number of viewers',
  running: 'let the clock run',
  format: 'format of the file',
  outcome: 'how the calls fail',
  expires_in: 'lifetime of the token in seconds',
  grace_seconds: 'seconds for which the old key stays valid',
  advance_seconds: 'seconds to move the clock forward',
}

/** Names on the command line that differ from the contract. */
const WORDS: Readonly<Record<string, string>> = { organization_id: 'org' }

/** Derives the fields of a verb from the contract, on first use: a command line has one verb. */
export function withFields(row: VerbRow): Verb {
  const { operation, bulk } = row
  const body = operation.body as JsonSchema | undefined
  const list = bulk === undefined ? undefined : body?.properties?.[bulk]
  const changes = operation.method === 'PUT' || operation.method === 'PATCH'
  const fields = lazily(() => [
    ...readFields(row, operation.params as JsonSchema | undefined),
    ...readFields(row, queryParametersOf(operation) as unknown as JsonSchema),
    ...readFields(row, bulk === undefined ? body : list?.items, changes),
  ])
  return {
    ...row,
    get fields() {
      return fields()
    },
    takesPairs: list !== undefined && 'patternProperties' in list,
  }
}

function readFields(row: VerbRow, schema: JsonSchema | undefined, changes = false): Field[] {
  return Object.entries(schema?.properties ?? {}).map(([name, each]) => {
    const variants = each.anyOf ?? [each]
    const main = variants.find(variant => variant.type !== 'null') ?? each
    const isList = main.type === 'array'
    const inner = isList ? (main.items ?? {}) : main
    const place = placeOf(row, name)
    const word = wordOf(name, isList)
    return {
      name,
      place,
      word,
      shown: place === 'argument' ? `<${word}>` : `--${word}`,
      kind: kindOf(main),
      choices: inner.enum,
      min: inner.minimum ?? 0,
      max: inner.maximum,
      removable: changes && (isList || variants.some(variant => variant.type === 'null')),
      required: schema?.required?.includes(name) ?? false,
      meaning: meaningOf(name, each.description ?? main.description ?? main.hint, isList),
      sample: sampleOf(isList ? name.replace(/s$/, '') : name, inner),
    }
  })
}

function placeOf({ operation, arguments: listed = [], secret }: VerbRow, name: string): Field['place'] {
  if (name === secret) return 'secret'
  const inPath = Object.hasOwn(operation.params?.properties ?? {}, name)
  return inPath || listed.includes(name) ? 'argument' : 'flag'
}

function kindOf({ type, enum: choices }: JsonSchema): Field['kind'] {
  if (type === 'integer' || type === 'number') return type
  if (type === 'boolean') return 'yes-no'
  if (type === 'array') return 'list'
  if (type === 'object') return 'pairs'
  return type === 'string' || choices !== undefined ? 'text' : 'other'
}

/** `game_id` becomes `--game`; each of the `tags` is a `--tag`. */
function wordOf(name: string, isList: boolean): string {
  const one = isList ? name.replace(/s$/, '') : name
  return WORDS[name] ?? one.replace(/_id$/, '').replaceAll('_', '-')
}

function meaningOf(name: string, described: string | undefined, isList: boolean): string {
  const plain = name.replace(/_id$/, '').replaceAll('_', ' ')
  if (isUser(name)) return `id or login of the ${plain}`
  const words = (MEANINGS[name] ?? described ?? plain).replaceAll('`', '').replace(/\.$/, '')
  const text = words.replace(/^[A-Z](?=[a-z ])/, letter => letter.toLowerCase())
  return isList ? `${text}; repeatable` : text
}

function sampleOf(name: string, { type }: JsonSchema): string {
  if (type === 'object') return 'name=value'
  if (type === 'integer' || type === 'number') return 'number'
  if (isUser(name)) return 'user'
  if (name.endsWith('_id') || name === 'id') return 'id'
  return /_at$|timestamp|since|until/.test(name) ? 'time' : 'text'
}
