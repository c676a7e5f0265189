import { type Family, familyOf, type Operation } from '../../operation.ts'
import { type ProblemName, problems } from '../../problem.ts'
import type { Json } from './schemas.ts'

const text = (description: string, schema: Json = {}) => ({
  description,
  schema: { type: 'string', ...schema },
})
const count = (description: string) => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum: 0 },
})

/**
 * The headers of responses. Those of the connection and of CORS are left out: every family but the control API allows all
 * origins.
 */
const HEADERS = {
  Date: text('The time of the server, as in RFC 9110.', { examples: ['Sun, 01 Mar 2026 12:00:00 GMT'] }),
  'X-Request-Id': text(
    'Identifies the request in the log. That of the request, if it had a well-formed one.',
  ),
  'Cache-Control': text('`no-store`, unless shared caches may keep the answer.', {
    pattern: '^(no-store|public, max-age=[0-9]+)$',
  }),
  Vary: text('The answer depends on the caller.', { const: 'Authorization' }),
  'Ratelimit-Limit': count('Points of a full bucket. Each request costs one.'),
  'Ratelimit-Remaining': count('Points that are left.'),
  'Ratelimit-Reset': count('When the bucket is full again, in Unix seconds.'),
  'Retry-After': count('Seconds to wait before the next attempt.'),
  'Strand-Error': text('The name of the error, which stays the same when its message changes.', {
    examples: ['token_invalid'],
  }),
  'WWW-Authenticate': text('The scheme that is expected, and what is wrong with the token.'),
  'Content-Disposition': text('The name of the file.', { pattern: '^attachment; filename="[^"]+"$' }),
  'X-Content-Type-Options': text('The type is as declared.', { const: 'nosniff' }),
} as const

type HeaderName = keyof typeof HEADERS

/** No component, because it is never on all responses of a status. */
const INPUT = text('JSON with the name of the wrong input, `field`, and what it must be, `reason`.', {
  examples: ['{"field":"title","reason":"must be at most 140 characters"}'],
})

const ALWAYS: readonly HeaderName[] = ['Date', 'X-Request-Id', 'Cache-Control']
const OF_FAMILY: Readonly<Record<Family, readonly HeaderName[]>> = {
  helix: ['Ratelimit-Limit', 'Ratelimit-Remaining', 'Ratelimit-Reset'],
  drops: ['Ratelimit-Limit', 'Ratelimit-Remaining', 'Ratelimit-Reset'],
  oauth: [],
  playback: [],
  control: [],
}

/** All headers, each always present where a response refers to it. */
export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, each]) => [name, { required: true, ...each }]),
  )
}

/** The headers of a success. */
export function headersOfSuccess(operation: Operation): Json {
  const { cacheSeconds, answerFile, fileOnRequest } = operation
  return {
    ...refer([
      ...commonHeaders(operation),
      ...(cacheSeconds === undefined ? [] : (['Vary'] as const)),
      ...(answerFile === undefined ? [] : OF_FILES),
    ]),
    ...(fileOnRequest && sometimesPresent(OF_FILES)),
  }
}

const OF_FILES: readonly HeaderName[] = ['Content-Disposition', 'X-Content-Type-Options']

const sometimesPresent = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map(name => [name, { required: false, ...HEADERS[name] }]))

/** The headers of a failure. Those that only some of its problems have are optional. */
export function headersOfFailure(operation: Operation, names: readonly ProblemName[]): Json {
  const each = names.map(headersOfProblem)
  const some = [...new Set(each.flat())]
  const always = some.filter(name => each.every(headers => headers.includes(name)))
  const sometimes = some.filter(name => !always.includes(name))
  return {
    ...refer([...commonHeaders(operation), 'Strand-Error', ...always]),
    ...sometimesPresent(sometimes),
    ...(familyOf(operation) === 'control' &&
      names.some(name => 'input' in problems[name]) && {
        'Strand-Error-Input': { required: false, ...INPUT },
      }),
  }
}

function commonHeaders(operation: Operation): readonly HeaderName[] {
  return [...ALWAYS, ...OF_FAMILY[familyOf(operation)]]
}

function headersOfProblem(name: ProblemName): readonly HeaderName[] {
  const { headers = {} } = problems[name] as { headers?: Json | ((seconds: number) => Json) }
  return Object.keys(typeof headers === 'function' ? headers(1) : headers) as HeaderName[]
}

function refer(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}
