import type { EventType } from '../../contract/events/event-type.ts'
import { EVENT_TYPES, findEventType } from '../../contract/events/event-types.ts'
import { type Refusal, refuse } from '../../contract/problem.ts'
import { TRANSPORT_METHODS, type TransportMethod } from '../../contract/resources/event-subscription.ts'
import { SITE_CLIENT_ID } from '../../contract/site-client.ts'
import { sha256Base64url } from '../../kit/crypto/digest.ts'
import type { TokenCaller } from '../caller.ts'

export type Condition = Readonly<Record<string, string>>

/** A subscription as a request asks for it. */
export interface GivenSubscription {
  readonly type: string
  readonly version: string
  readonly condition: Readonly<Record<string, unknown>>
  readonly transport: {
    readonly method: string
    readonly callback?: string | undefined
    readonly secret?: string | undefined
    readonly session_id?: string | undefined
  }
  readonly is_batching_enabled?: boolean | undefined
}

/** A well-formed subscription; whether the caller may have it depends on stored facts. */
export interface WantedSubscription {
  readonly type: EventType
  readonly condition: Condition
  readonly subject: string
  readonly transport:
    | { readonly method: 'webhook'; readonly callback: string; readonly secret: string }
    | { readonly method: 'websocket'; readonly session_id: string }
}

/** Which callbacks are allowed. `any`: http and every port and address too, for demos and private networks. */
export type CallbackRule = 'public' | 'any'

const SECRET = /^[\x20-\x7e]{10,100}$/
const MAX_CONDITION_VALUE = 100

export function readSubscription(
  given: GivenSubscription,
  caller: TokenCaller,
  callbacks: CallbackRule,
):
  | WantedSubscription
  | Refusal<'malformed_parameter' | 'missing_parameter' | 'wrong_token_kind' | 'subscription_forbidden'> {
  // Messages would go on after the page is closed and the session has ended.
  if (caller.client_id === SITE_CLIENT_ID)
    return refuse('subscription_forbidden', 'tokens of the site cannot subscribe')
  const type = findEventType(given.type, given.version)
  if (type === undefined) return refuseType(given)
  const method = TRANSPORT_METHODS.find(each => each === given.transport.method)
  if (method === undefined) return malformed('transport.method', 'the value must be webhook or websocket')
  if (!type.transports.includes(method))
    return malformed('transport.method', `${type.type} can only be sent by ${type.transports.join(' or ')}`)
  if (method === 'webhook' && caller.kind !== 'app') return refuse('wrong_token_kind', method, 'an app')
  if (method === 'websocket' && caller.kind !== 'user') return refuse('wrong_token_kind', method, 'a user')
  if (type.isBatched && given.is_batching_enabled !== true)
    return malformed('is_batching_enabled', `the value must be true for ${type.type}`)
  const condition = readCondition(type, given.condition)
  if ('problem' in condition) return condition as Refusal<'malformed_parameter' | 'missing_parameter'>
  const transport = readTransport(method, given.transport, callbacks)
  if ('problem' in transport) return transport
  return { type, condition, subject: condition[type.subject] ?? '', transport }
}

const malformed = (name: string, why: string) => refuse('malformed_parameter', name, why)

function refuseType({ type, version }: GivenSubscription): Refusal<'malformed_parameter'> {
  const versions = EVENT_TYPES.filter(each => each.type === type).map(each => each.version)
  return versions.length === 0
    ? malformed('type', `there is no event type "${type}"; see Events in the reference for those that exist`)
    : malformed('version', `${type} has the version ${versions.join(' or ')}, not "${version}"`)
}

/** Some client libraries send the fields of all types, the unused ones with an empty value. */
const isAbsent = (value: unknown) => value === undefined || value === null || value === ''

/** The fields of the type and no others. Empty fields count as absent. */
function readCondition(
  { type, condition: schema }: EventType,
  given: Readonly<Record<string, unknown>>,
): Condition | Refusal<'malformed_parameter' | 'missing_parameter'> {
  const required = new Set<string>((schema.required as string[] | undefined) ?? [])
  const names = Object.keys(schema.properties)
  const unknown = Object.keys(given).find(name => !names.includes(name) && !isAbsent(given[name]))
  if (unknown !== undefined)
    return malformed(`condition.${unknown}`, `the condition of ${type} has ${names.join(', ')} only`)
  const condition: Record<string, string> = {}
  for (const name of names) {
    const value = given[name]
    const text = Number.isSafeInteger(value) ? String(value) : value
    if (isAbsent(text)) {
      if (required.has(name)) return refuse('missing_parameter', `condition.${name}`)
    } else if (typeof text !== 'string' || text.length > MAX_CONDITION_VALUE)
      return malformed(
        `condition.${name}`,
        `the value must be a string of at most ${MAX_CONDITION_VALUE} characters`,
      )
    else condition[name] = name === 'organization_id' ? text.toLowerCase() : text
  }
  return condition
}

function readTransport(
  method: TransportMethod,
  { callback, secret, session_id }: GivenSubscription['transport'],
  callbacks: CallbackRule,
): WantedSubscription['transport'] | Refusal<'malformed_parameter' | 'missing_parameter'> {
  if (method === 'websocket')
    return session_id === undefined || session_id === ''
      ? refuse('missing_parameter', 'transport.session_id')
      : { method, session_id }
  if (callback === undefined || callback === '') return refuse('missing_parameter', 'transport.callback')
  if (secret === undefined || secret === '') return refuse('missing_parameter', 'transport.secret')
  if (!SECRET.test(secret))
    return malformed('transport.secret', 'the value must be 10 to 100 printable ASCII characters')
  const why = callbackViolation(callback, callbacks)
  return why === undefined ? { method, callback, secret } : malformed('transport.callback', why)
}

/** What is wrong with a callback URL. Its address is checked when it is resolved, before each connection. */
function callbackViolation(text: string, callbacks: CallbackRule): string | undefined {
  // A URL may not contain white space or control characters, which the parser would ignore.
  const url = !/[\s\p{Cc}]/u.test(text) && URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' && callbacks === 'any'
  if (url === undefined || url.hostname === '' || !(url.protocol === 'https:' || isHttp))
    return `the value must be an ${callbacks === 'any' ? 'http or https' : 'https'} URL`
  if (url.username !== '' || url.password !== '') return 'the value must not contain a user name or password'
  if (url.hash !== '') return 'the value must not have a fragment'
  if (callbacks === 'public' && url.port !== '') return 'the port must be 443'
  return undefined
}

/** Type, version and subject: what an event has in common with its subscriptions. */
export function eventTopic({ type, version }: Pick<EventType, 'type' | 'version'>, subject: string): string {
  return `${type}/${version}/${subject}`
}

/** The topics of all types that are about this subject. */
export function topicsAbout(subject: string): string[] {
  return EVENT_TYPES.map(type => eventTopic(type, subject))
}

/** Where messages go. Those for one target are sent a few at a time. */
export function deliveryTarget(transport: WantedSubscription['transport']): string {
  return transport.method === 'websocket'
    ? `${SOCKET_TARGET}${transport.session_id}`
    : `${WEBHOOK_TARGET}${new URL(transport.callback).host}`
}

export const WEBHOOK_TARGET = 'webhook:'
export const SOCKET_TARGET = 'websocket:'
/** Verifications wait in a queue of their client. */
export const VERIFICATION_QUEUE = 'verification:'

/** Two live subscriptions of a client with the same identity are the same. */
export function subscriptionIdentity(client_id: string, owner: string, wanted: WantedSubscription): string {
  const { type, condition, transport } = wanted
  const to = transport.method === 'webhook' ? transport.callback : transport.session_id
  const fields = Object.entries(condition).sort(([a], [b]) => (a < b ? -1 : 1))
  return sha256Base64url(JSON.stringify([client_id, owner, type.type, type.version, fields, to]))
}

/** Online and offline messages about one broadcaster to one receiver are sent in order. */
export function deliveryLane(client_id: string, wanted: WantedSubscription): string | null {
  const { type, subject, transport } = wanted
  if (!type.type.startsWith('stream.')) return null
  const to = transport.method === 'webhook' ? transport.callback : transport.session_id
  return sha256Base64url(JSON.stringify([client_id, to, subject]))
}

/** Whether an event meets the optional fields of a condition. */
export function meets(condition: Condition, { subject }: EventType, event: object): boolean {
  const fields = event as Readonly<Record<string, unknown>>
  return Object.entries(condition).every(
    ([name, value]) => name === subject || !(name in fields) || fields[name] === value,
  )
}

export const MAX_COST = { webhook: 10_000, websocket: 10 } as const satisfies Record<TransportMethod, number>
export const MAX_SUBSCRIPTIONS_OF_SOCKET = 300
export const MAX_SOCKETS_OF_USER = 3
/** Webhooks of a client that cost nothing, with the same type and condition; each gets a message of each event. */
export const MAX_FREE_WEBHOOKS = 100
