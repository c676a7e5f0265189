/** Checks a response against the OpenAPI document. Returns one sentence per violation. */
import { STATUS_CODES } from 'node:http'
import type { RawAnswer, Silence } from './connection.ts'
import type { ApiDocument, DescribedOperation, DescribedResponse, Schema } from './document.ts'
import type { FuzzRequest } from './request.ts'
import { violationsAbout } from './schema-check.ts'

const LINES = 'application/x-ndjson'
const JSON_TYPE = 'application/json'
/** The protocol version may be what was mutated. */
const VERSION_NOT_SUPPORTED = 505
const MIN_SECRET = 12
/** A token, code, client secret or stream key. */
export const SECRET =
  /\bs(?:app|usr|ref|sec|opr|ses|cod)_[A-Za-z0-9]{38}\b|\blive_[0-9]{1,19}_[A-Za-z0-9]{30}\b/

export interface Exchange {
  readonly operation: DescribedOperation
  readonly request: FuzzRequest
  readonly answer: RawAnswer | Silence
}

type Named = ApiDocument['components']['schemas']

export function violationsOf({ operation, request, answer }: Exchange, named: Named): string[] {
  if (typeof answer === 'string') return request.isBroken && answer === 'hung up' ? [] : [answer]
  const { status } = answer
  const leaks = status >= 400 ? leakedSecrets(answer, request) : []
  if (request.isBroken) {
    const isOurs = status >= 500 && status !== VERSION_NOT_SUPPORTED
    return isOurs ? [`status ${status}`, ...leaks] : leaks
  }
  if (status >= 500) return [`status ${status}`, ...leaks]
  const declared = operation.responses[String(status)]
  if (declared === undefined) return [`status ${status} is not declared`, ...leaks]
  return [...describedViolations(answer, declared, named), ...leaks]
}

/** Whether body and headers are as the document describes them. */
export function describedViolations(answer: RawAnswer, declared: DescribedResponse, named: Named): string[] {
  return [...bodyViolations(answer, declared.content, named), ...headerViolations(answer, declared, named)]
}

function bodyViolations(
  { status, headers, body }: RawAnswer,
  content: DescribedOperation['responses'][string]['content'],
  named: Named,
): string[] {
  const declared = Object.keys(content ?? {})
  if (declared.length === 0) return body.length === 0 ? [] : ['a body where none is declared']
  const type = headers.get('content-type') ?? ''
  const schema = content?.[type]?.schema
  if (schema === undefined) return [`content type ${type}, declared is ${declared.join(' or ')}`]
  const text = body.toString('utf8')
  if (type === LINES)
    return text.split('\n').flatMap(line => lineViolations(line, schema.contentSchema ?? {}, named))
  const value = type === JSON_TYPE ? parsed(text) : text
  if (value === undefined) return ['the body is not JSON']
  const violations = violationsAbout(value, schema, named)
  return status < 400 || violations.length > 0 ? violations : failureViolations(status, value)
}

/** A line of a streamed response, which reports a late failure as its last line. */
function lineViolations(line: string, schema: Schema, named: Named): string[] {
  if (line === '') return []
  const value = parsed(line) as { failure?: { status: number } } | undefined
  if (value === undefined) return ['a line of the body is not JSON']
  const failed = value.failure !== undefined && value.failure.status >= 500
  return failed ? [`a line with status ${value.failure?.status}`] : violationsAbout(value, schema, named)
}

/** D-4. The OAuth side has no `error`, but for the token endpoint of OpenID Connect, where it is a code of the standard. */
function failureViolations(status: number, value: unknown): string[] {
  const body = value as { status: number; error?: string; error_description?: string; message: string }
  return [
    ...(body.status === status ? [] : [`status ${body.status} in the body of a ${status}`]),
    ...(body.error === undefined ||
    body.error_description !== undefined ||
    body.error === STATUS_CODES[status]
      ? []
      : [`error "${body.error}" in the body of a ${status}`]),
    ...(body.message === '' ? ['an empty message'] : []),
  ]
}

/** Headers of the connection, those that describe the body, and those of CORS, which the document leaves out. */
const LEFT_OUT = /^(access-control-.*|connection|content-(length|type)|keep-alive|transfer-encoding)$/

function headerViolations(
  { status, headers }: RawAnswer,
  declared: DescribedResponse,
  named: Named,
): string[] {
  const described = Object.entries(declared.headers ?? {})
  const names = new Set(described.map(([name]) => name.toLowerCase()))
  return [
    ...described.flatMap(([name, { required, schema }]) => {
      const text = headers.get(name.toLowerCase())
      if (text === undefined) return required ? [`no ${name}`] : []
      const value = schema.type === 'integer' && /^[0-9]+$/.test(text) ? Number(text) : text
      return violationsAbout(value, schema, named, ` ${name}`)
    }),
    ...[...headers.keys()]
      .filter(name => !names.has(name) && !LEFT_OUT.test(name))
      .map(name => `the header ${name} is not described`),
    ...(status === 429 && !/^[0-9]+$/.test(headers.get('ratelimit-reset') ?? headers.get('retry-after') ?? '')
      ? ['a 429 without Ratelimit-Reset or Retry-After']
      : []),
  ]
}

/** Secrets in an error response: any known format, or the one that was sent. */
function leakedSecrets({ headers, body }: RawAnswer, request: FuzzRequest): string[] {
  const received = [...headers.values(), body.toString('utf8')].join('\n')
  const authorization = request.headers.find(([name]) => name === 'Authorization')?.[1] ?? ''
  const sent = authorization.slice(authorization.indexOf(' ') + 1)
  const hasSent = sent.length >= MIN_SECRET && received.includes(sent)
  return hasSent || SECRET.test(received) ? ['a secret is in the answer'] : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
