import type { Static, TObject, TSchema, TString } from 'typebox'
import { type Access, operator } from './access.ts'
import { type PageRule, pageParameters } from './page.ts'
import type { ProblemName, ProblemWithoutDetails } from './problem.ts'
import { Type } from './schema.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A form of a body: which of its fields have to be there, may be there, or have one value. */
export interface BodyForm {
  readonly description: string
  readonly fixed?: Readonly<Record<string, string>>
  readonly required: readonly string[]
  readonly optional: readonly string[]
}

/**
 * One operation as a value. Routes and aliases, parsing and limits, the types of input and answer, authorisation, the
 * filter on the answer, the allowed failures, OpenAPI, the Markdown reference and the test matrix are derived from it.
 */
export interface Operation {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly method: Method
  readonly path: string
  readonly access: Access
  /** The `{placeholders}` of the path; default: any text for each. */
  readonly params?: TObject
  /** An empty value counts as absent (D-11), except for a parameter with `emptyIsValue`. */
  readonly query?: TObject
  readonly body?: TObject
  /**
   * `json`: a JSON object. `anywhere`: fields may also come in the query string, and for OAuth in a form. `text`: a JSON
   * object that may be so large that the handler receives its text and has it parsed on another thread.
   */
  readonly bodyFrom?: 'json' | 'anywhere' | 'text'
  /**
   * The body as callers send it, by the name of each form, where the parser takes more: it leaves missing fields to the
   * handler, because clients match on the message for each.
   */
  readonly forms?: Readonly<Record<string, BodyForm>>
  /** The body is any number of JSON lines of this shape (`application/x-ndjson`). The handler reads them as a stream. */
  readonly bodyLines?: TSchema
  /** The answer is a stream of JSON lines of this shape, instead of `returns`. */
  readonly answerLines?: TSchema
  /** The answer is a text file in one of these media types, instead of `returns`. The example is in the first. */
  readonly answerFile?: readonly string[]
  /** The answer is a text file in one of these media types instead of `returns` if the caller asks for it. */
  readonly fileOnRequest?: readonly string[]
  /** Exactly one of these has to be given. */
  readonly exactlyOne?: readonly [string, string, ...string[]]
  /** The problem if not exactly one of them is given; default: `not_exactly_one`. */
  readonly exactlyOneProblem?: ProblemWithoutDetails
  /**
   * The query parameters that name rows: together they take at most `MAX_LOOK_UP` values (D-62). With one of them, all rows
   * are on one page: page size and cursor have no effect, but must be well formed (D-88).
   */
  readonly lookUpBy?: readonly string[]
  readonly page?: PageRule
  /** The request may carry an `Idempotency-Key` (D-39). */
  readonly idempotent?: boolean
  /** Repeating the request is harmless, though it writes; clients may do so when an answer was lost. */
  readonly repeatable?: boolean
  /** Absent: the answer has no body. */
  readonly returns?: TSchema
  /** There may be no answer: 204 without a body instead of `returns`. */
  readonly mayBeEmpty?: boolean
  /** Default: 200, or 204 where the answer has no body. */
  readonly status?: 200 | 202 | 204
  /** Failures beyond those that access, query, body and page imply; default: none. */
  readonly problems: readonly ProblemName[]
  /** Seconds for which shared caches may keep an anonymous answer (D-21); absent: none. */
  readonly cacheSeconds?: number
  /** The handler charges the rate limit, because the bucket depends on what it finds. */
  readonly limitsItself?: boolean
  /** Failures also carry `error` and `error_description`, as in RFC 6749. */
  readonly standardErrors?: boolean
  /** What callers send where access is open, because the handler checks it: a token, one with `openid`, or a client's secret. */
  readonly credentials?: 'token' | 'openid' | 'client'
  /** Has no deadline: what a caller repeats after one would be done twice. */
  readonly takesLong?: boolean
  /** Exists in demo mode only. */
  readonly demoOnly?: boolean
  readonly example: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string | number | readonly string[]>>
    readonly body?: unknown
    readonly answer?: unknown
  }
}

type Declaration = Omit<Operation, 'method' | 'path' | 'problems'> & Partial<Pick<Operation, 'problems'>>

type Placeholder<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type Declared<R extends string, O> = R extends `${infer M extends Method} ${infer P}`
  ? O & {
      readonly method: M
      readonly path: P
      readonly problems: O extends { readonly problems: infer Names } ? Names : readonly []
    } & (O extends { readonly params: TObject }
        ? unknown
        : Placeholder<P> extends never
          ? unknown
          : { readonly params: TObject<Record<Placeholder<P>, TString>> })
  : never

/** `defineOperation('GET /helix/streams', { id: 'GetStreams', ... })` */
export function defineOperation<const R extends `${Method} /${string}`, const O extends Declaration>(
  route: R,
  operation: O,
): Declared<R, O> {
  const [method, path = ''] = route.split(' ')
  const status = hasAnswer(operation) ? 200 : 204
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, Type.String()])
  const params = names.length > 0 && { params: Type.Object(Object.fromEntries(names)) }
  return { status, problems: [], ...params, ...operation, method, path } as unknown as Declared<R, O>
}

/** An operation of the control API, which is for operators. */
export function controlOperation<
  const R extends `${Method} /control/${string}`,
  const O extends Omit<Declaration, 'access'>,
>(route: R, operation: O): Declared<R, O & { readonly access: Access }> {
  return defineOperation(route, { access: operator, ...operation })
}

/** The name of the client's method for an operation. */
export const methodName = ({ id }: Pick<Operation, 'id'>): string => id.charAt(0).toLowerCase() + id.slice(1)

export function hasAnswer({
  returns,
  answerLines,
  answerFile,
}: Pick<Operation, 'returns' | 'answerLines' | 'answerFile'>): boolean {
  return returns !== undefined || answerLines !== undefined || answerFile !== undefined
}

type Simplify<T> = { [K in keyof T]: T[K] }
type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise
type ExactlyOne<T, K extends keyof T> = {
  [Given in K]-?: Simplify<
    Omit<T, K> & { [P in Given]-?: Exclude<T[P], undefined> } & { [P in Exclude<K, Given>]?: undefined }
  >
}[K]

export type ParamsOf<O extends Operation> = StaticOr<O['params'], Record<never, never>>
export type BodyOf<O extends Operation> = StaticOr<O['body'], Record<never, never>>
export type AnswerOf<O extends Operation> =
  | StaticOr<O['returns'], undefined>
  | (O extends { readonly mayBeEmpty: true } ? undefined : never)

/** What the code of an operation may refuse with: what is declared, and what its access, its input and the store imply. */
export type ProblemOf<O extends Operation> =
  | O['problems'][number]
  | 'unavailable'
  /** A token can become invalid while its request is answered. */
  | 'token_invalid'
  | (O extends { readonly body: TObject }
      ? 'malformed_json' | 'malformed_parameter' | 'missing_parameter'
      : never)
  | (O extends { readonly query: TObject } ? 'missing_parameter' : never)
  | (O extends { readonly idempotent: true } ? 'idempotency_key_reused' : never)

type PlainQueryOf<O extends Operation> = StaticOr<O['query'], Record<never, never>>
export type QueryOf<O extends Operation> = O extends {
  readonly exactlyOne: readonly (infer Name extends string)[]
}
  ? ExactlyOne<PlainQueryOf<O>, Name & keyof PlainQueryOf<O>>
  : PlainQueryOf<O>

/** Error body, rate limits and cross-origin rules depend on the family. */
export type Family = 'helix' | 'drops' | 'oauth' | 'playback' | 'control'

export function familyOf(operation: Pick<Operation, 'path'>): Family {
  if (operation.path.startsWith('/helix/')) return 'helix'
  if (operation.path.startsWith('/oauth2/')) return 'oauth'
  if (operation.path.startsWith('/drops/')) return 'drops'
  return operation.path.startsWith('/playback/') ? 'playback' : 'control'
}

/** Whether requests of a family take points from the bucket of their caller (D-17). */
export const hasBucket = (family: Family | undefined): boolean => family === 'helix' || family === 'drops'

/** All query parameters, including those of the page rule. */
export function queryParameters(operation: Operation): TObject {
  return Type.Object({
    ...operation.query?.properties,
    ...(operation.page === undefined ? {} : pageParameters(operation.page)),
  })
}

/** All problems that an operation may answer with, apart from `internal`. */
export function listProblems(operation: Operation): ReadonlySet<ProblemName> {
  const names = new Set<ProblemName>(['malformed_query'])
  for (const name of accessProblems(operation)) names.add(name)
  for (const name of inputProblems(operation)) names.add(name)
  if (hasBucket(familyOf(operation))) names.add('rate_limited')
  if (['oauth', 'playback'].includes(familyOf(operation))) names.add('too_many_requests')
  for (const name of operation.problems) names.add(name)
  return names.add('unavailable')
}

function accessProblems({ access }: Operation): ProblemName[] {
  if (access.kind === 'open') return []
  if (access.kind === 'operator') return ['operator_required', 'operator_invalid']
  if (access.kind === 'anyone') return ['token_invalid', 'client_mismatch']
  const names: ProblemName[] = ['token_missing', 'token_invalid', 'client_mismatch']
  if (access.scopes.length > 0) names.push('scope_missing')
  if (!access.app) names.push('user_token_required')
  return names
}

function inputProblems(operation: Operation): ProblemName[] {
  const query = queryParameters(operation)
  const names: ProblemName[] = []
  const fields = { ...query.properties, ...operation.body?.properties }
  const required = [...(query.required ?? []), ...(operation.body?.required ?? [])]
  if (Object.keys({ ...fields, ...operation.params?.properties }).length > 0)
    names.push('malformed_parameter')
  if (required.length > 0) names.push('missing_parameter')
  const scalars = Object.values(operation.bodyFrom === 'anywhere' ? fields : query.properties)
  if (scalars.some(schema => !('items' in schema))) names.push('repeated_parameter')
  if (operation.body !== undefined) names.push('malformed_json', 'body_too_large')
  if (operation.bodyLines !== undefined) names.push('body_too_large')
  if (operation.exactlyOne !== undefined) names.push(operation.exactlyOneProblem ?? 'not_exactly_one')
  if (operation.idempotent) names.push('bad_idempotency_key', 'idempotency_key_reused')
  if (operation.page !== undefined) names.push('invalid_cursor')
  if (operation.page?.before) names.push('both_cursors')
  return names
}
