/** Generates requests for an operation from its description: mostly valid ones, others mutated in many ways. */
import type { SeededRandom } from '../../src/kit/random.ts'
import type { DescribedOperation, Parameter, Schema } from './document.ts'
import { type Known, kindOf, type Params } from './known.ts'
import type { FuzzRequest } from './request.ts'
import { ValueMaker } from './values.ts'

/** Share of requests without any mutation. */
const VALID_SHARE = 0.6
/** In the others, the probability that a value is mutated; a single invalid field gets further than many. */
const MUTATION_RATES = [0.08, 0.2, 0.4]
const BROKEN_SHARE = 0.03
const FORM = 'application/x-www-form-urlencoded'
const LINES = 'application/x-ndjson'
/** The server accepts a head of 32 KiB; above that it may just close the connection. */
const MAX_QUERY = 24_000
/** Above the limit of the public API. */
const LARGE_BODY = 70_000
const IN_A_LONG_TIME = '2099-01-01T00:00:00Z'

/** A snapshot may have been saved when everything was deleted. */
const TO_START: Body = { type: 'application/json', body: utf8('{"to":"start"}'), moreQuery: '' }

export interface MadeRequest {
  readonly request: FuzzRequest
  readonly params: Params
  readonly query: string
  readonly authorization: string | undefined
}

/** `isValid` switches all mutations off. */
export function makeRequest(
  operation: DescribedOperation,
  known: Known,
  random: SeededRandom,
  isValid = random.next() < VALID_SHARE,
): MadeRequest {
  const identity = known.identity(random)
  const client = known.client(random)
  const example = exampleOf(operation)
  const fromExample = suggestionsIn(example)
  // Of the whole request, because some need several fields that fit together.
  const followsExample = random.next() < 0.7
  const isDeleting = operation.method === 'DELETE'
  const isForToken =
    operation.security?.some(each => Object.hasOwn(each, 'userToken')) ||
    operation.operationId === 'AddWatchedMinutes'
  const suggest = (field: string, schema: Schema): string | undefined => {
    const kind =
      schema['x-strand-refers-to'] === undefined
        ? kindOf(operation.path, field)
        : `${schema['x-strand-refers-to']}_id`
    if (kind === 'client_id' && Object.hasOwn(example, 'client_id')) return client.id
    if (kind === 'client_secret') return client.secret
    // The grant that needs nothing but a client, and the scope that user info needs.
    if (kind === 'grant_type' && random.next() < 0.5) return 'client_credentials'
    if (kind === 'valid_until') return IN_A_LONG_TIME
    if (kind === 'secret' && operation.path.includes('eventsub')) return 'a secret of the receiver'
    if (kind === 'scope' && random.next() < 0.3) return 'openid'
    if (kind === 'user_id' && isForToken && random.next() < 0.8) return identity.id
    // A new user needs an unused login.
    if (kind === 'login' && operation.method !== 'GET' && operation.path.startsWith('/control/'))
      return undefined
    const suggested = fromExample.get(field)
    if (suggested !== undefined && followsExample) return suggested
    if (random.next() < 0.1) return undefined
    return known.pick(kind, random, isDeleting ? 'recent' : 'any')
  }
  const values = new ValueMaker(random, suggest, {
    mutationRate: isValid ? 0 : random.pick(MUTATION_RATES),
    usual: new Set(namesIn(example)),
  })
  const authorization = authorize(operation, known, random, identity.token, values)
  const walk = known.walk(operation.operationId)
  const isNextPage = isValid && walk !== undefined && random.next() < 0.2
  const params = paramsOf(operation, known, random, values)
  const query = isNextPage
    ? `${walk.query}${walk.query === '' ? '' : '&'}after=${encode(walk.cursor)}`
    : queryOf(operation, values, random)
  const spoken = isNextPage ? walk.authorization : authorization
  const made = bodyOf(operation, values, random)
  const { type, body, moreQuery } = isValid && operation.operationId === 'ResetWorld' ? TO_START : made
  const wholeQuery = [query, moreQuery].filter(each => each !== '').join('&')
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encode(params[name] ?? '') || '-')
  const headers = [
    ...(spoken === undefined ? [] : [['Authorization', spoken] as const]),
    ...(type === undefined ? [] : [['Content-Type', type] as const]),
    ...headersOf(operation, values, client.id, random),
  ]
  const request: FuzzRequest = {
    operationId: operation.operationId,
    method: operation.method,
    target: wholeQuery === '' ? path : `${path}?${wholeQuery}`,
    headers,
    ...(body !== undefined && { body }),
    isBroken: wholeQuery.length > MAX_QUERY,
  }
  const sent = isValid || random.next() >= BROKEN_SHARE ? request : broken(request, random)
  return { request: sent, params, query, authorization: spoken }
}

function paramsOf(
  operation: DescribedOperation,
  known: Known,
  random: SeededRandom,
  values: ValueMaker,
): Params {
  const before = known.params(operation.path, random)
  if (before !== undefined && random.next() < 0.4) return before
  const inPath = operation.parameters.filter(each => each.in === 'path')
  return Object.fromEntries(inPath.map(({ name, schema }) => [name, asText(values.make(name, schema))]))
}

function queryOf(operation: DescribedOperation, values: ValueMaker, random: SeededRandom): string {
  const pairs: string[] = []
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'query' || !isWanted(parameter, values, random)) continue
    const made = values.make(parameter.name, parameter.schema)
    const all = Array.isArray(made) ? made : [made]
    for (const each of all) pairs.push(`${parameter.name}=${encode(asText(each))}`)
    if (values.mutates(0.2)) pairs.push(`${parameter.name}=${encode(values.hostileText())}`)
  }
  if (values.mutates(0.2)) pairs.push(random.pick(['%FF', 'first=%', '&', '=', 'extra=1', 'first=%ED%A0%80']))
  return pairs.join('&')
}

/** A made-up cursor is always invalid, so it counts as a mutation. */
function isWanted({ name, required }: Parameter, values: ValueMaker, random: SeededRandom): boolean {
  if (name === 'after' || name === 'before') return values.mutates()
  return required ? !values.mutates(0.2) : random.next() < 0.3
}

interface Body {
  readonly type: string | undefined
  readonly body: Uint8Array | undefined
  /** Body fields that are sent in the query string instead. */
  readonly moreQuery: string
}

const NO_BODY: Body = { type: undefined, body: undefined, moreQuery: '' }

function bodyOf(operation: DescribedOperation, values: ValueMaker, random: SeededRandom): Body {
  const { requestBody } = operation
  // An unexpected body must be ignored.
  if (requestBody === undefined) return values.mutates(0.2) ? { ...NO_BODY, body: utf8('{"a":1}') } : NO_BODY
  const type = random.pick(Object.keys(requestBody.content))
  const schema = requestBody.content[type]?.schema ?? {}
  const sentType = values.mutates(0.2)
    ? random.pick(['text/plain', ';', 'application/json; charset=x'])
    : type
  const whole = (body: Uint8Array): Body => ({
    type: sentType,
    body: values.mutates(0.5) ? mangled(body, random) : body,
    moreQuery: '',
  })
  if (type === LINES) {
    const lines = Array.from({ length: random.between(1, 4) }, () => values.make('', schema))
    return whole(utf8(lines.map(line => `${JSON.stringify(line)}\n`).join('')))
  }
  const made = values.make('', schema)
  if (type !== FORM) return whole(utf8(JSON.stringify(made)))
  if (typeof made !== 'object' || made === null) return whole(utf8(asText(made)))
  const pairs = Object.entries(made).map(([name, value]) => `${name}=${encode(asText(value))}`)
  if (random.next() < 0.2) return { ...NO_BODY, moreQuery: pairs.join('&') }
  return whole(utf8(pairs.join('&')))
}

function headersOf(
  operation: DescribedOperation,
  values: ValueMaker,
  clientId: string,
  random: SeededRandom,
): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = []
  for (const { name, schema, ...parameter } of operation.parameters)
    if (parameter.in === 'header' && name !== 'Client-Id' && random.next() < 0.3)
      headers.push([name, asHeader(asText(values.make(name, schema)))])
  if (values.mutates(0.2)) headers.push(['Client-Id', random.pick([clientId, 'x', ''])])
  if (values.mutates(0.2)) headers.push(['X-Request-Id', asHeader(values.hostileText())])
  return headers
}

function authorize(
  operation: DescribedOperation,
  known: Known,
  random: SeededRandom,
  userToken: string,
  values: ValueMaker,
): string | undefined {
  const kinds = (operation.security ?? []).flatMap(each => Object.keys(each))
  const allowsAnonymous = operation.security?.some(each => Object.keys(each).length === 0)
  if (values.mutates()) {
    const odd = [
      '',
      'Bearer',
      'Bearer  ',
      `Bearer ${known.operatorToken}`,
      `Bearer ${random.pick(known.appTokens)}`,
      `Bearer ${userToken}x`,
      `Basic ${userToken}`,
      `Bearer ${known.pick('access_token', random) ?? 'x'}`,
      `Bearer ${known.pick('refresh_token', random) ?? 'x'}`,
      `Bearer ${asHeader(values.hostileText())}`,
    ]
    return random.pick(odd) || undefined
  }
  if (kinds.includes('operatorToken')) return `Bearer ${known.operatorToken}`
  if (allowsAnonymous && random.next() < 0.5) return undefined
  if (kinds.length === 0 && operation.parameters.length + Number(operation.requestBody !== undefined) > 0)
    return undefined
  if (operation.operationId === 'GetUserInfo' && random.next() < 0.8)
    return `Bearer ${known.pick('openid_token', random) ?? userToken}`
  const isForApps = /entitlements|streams$|eventsub/.test(operation.path) && random.next() < 0.6
  const token = isForApps ? random.pick(known.appTokens) : userToken
  return `${random.pick(['Bearer', 'bearer', kinds.length === 0 ? 'OAuth' : 'Bearer'])} ${token}`
}

/** The example body of the document. */
function exampleOf(operation: DescribedOperation): Readonly<Record<string, unknown>> {
  const [content] = Object.values(operation.requestBody?.content ?? {})
  return Object(content?.example ?? {})
}

/** The names of its fields, also of objects within it. */
function namesIn(example: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(example).flatMap(([name, value]) =>
    isObject(value) ? [name, ...namesIn(value)] : [name],
  )
}

/** Its strings, without placeholders, without ids of another world, and without addresses of other hosts. */
function suggestionsIn(example: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const pairs = Object.entries(example).flatMap(([name, value]): (readonly [string, string])[] => {
    if (isObject(value)) return [...suggestionsIn(value)]
    return typeof value === 'string' && !value.startsWith('<') && !OF_ANOTHER_WORLD.test(name)
      ? [[name, value]]
      : []
  })
  return new Map(pairs)
}

const OF_ANOTHER_WORLD = /_id$|^token$|^login$|^callback$/

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Truncates, repeats, enlarges, replaces or overwrites bytes of a body. */
function mangled(body: Uint8Array, random: SeededRandom): Uint8Array {
  const copy = body.slice()
  switch (random.between(0, 5)) {
    case 0:
      return copy.subarray(0, random.between(0, copy.length))
    case 1:
      return Buffer.concat([copy, copy])
    case 2:
      return Buffer.concat([copy, Buffer.alloc(LARGE_BODY, ' ')])
    case 3:
      return utf8(random.pick(['', '[]', 'null', '1', '"x"', '{', '{}', '\ufeff{}', '['.repeat(5000)]))
    default:
      for (let count = 0; count < 3; count++)
        copy[random.between(0, copy.length - 1)] = random.between(0, 255)
      return copy
  }
}

/** Replaces bytes of the request line or the headers. Line breaks are left out: they would start a second request. */
function broken(request: FuzzRequest, random: SeededRandom): FuzzRequest {
  const spoil = (text: string) => {
    const at = random.between(0, text.length)
    const byte = random.pick([0, 1, 9, 32, 35, 37, 47, 58, 63, 92, 127, 128, 255])
    return `${text.slice(0, at)}${String.fromCharCode(byte)}${text.slice(at + 1)}`
  }
  if (random.next() < 0.7) return { ...request, target: spoil(request.target), isBroken: true }
  const headers = request.headers.map(([name, value]) => [spoil(name), spoil(value)] as const)
  return { ...request, headers, isBroken: true }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Percent-encodes; a lone surrogate becomes its invalid UTF-8 bytes. */
function encode(text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text)
  return [...text].map(each => (each.isWellFormed() ? encodeURIComponent(each) : '%ED%A0%80')).join('')
}

/** UTF-8 bytes as a header value, without line breaks. */
function asHeader(text: string): string {
  return Buffer.from(text.replace(/[\r\n\0]/g, ''), 'utf8').toString('latin1')
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
