import type { Call } from './call.ts'
import { reasonPhrases } from './calls.ts'
import { toResponseInfo } from './response-info.ts'
import { StrandError } from './strand-error.ts'

/** A response whose body was read completely. */
export interface ReceivedResponse {
  readonly response: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers'>
  readonly text: string
}

/** The error in a response. A proxy in front of the server may answer with something other than JSON. */
export function toStrandError({ id }: Call, { response, text }: ReceivedResponse, base: string): StrandError {
  const { status } = response
  const reported = readErrorBody(text)
  const message = reported.message ?? `${id} failed with status ${status}; the response has no error message.`
  const isNoRoute = reported.message === undefined || response.headers.get('strand-error') === 'route_unknown'
  return new StrandError({
    status,
    error: reported.error ?? reasonPhrases[status] ?? (response.statusText || 'Error'),
    message:
      status === 404 && isNoRoute ? `${message} Is ${describeBase(base)} the right base URL?` : message,
    operation: id,
    ...readInput(response.headers.get('strand-error-input')),
    response: toResponseInfo(response),
  })
}

/** The error that a success is not JSON: cut off, or from a proxy. */
export function notJson({ id }: Call, { response }: ReceivedResponse, cause: unknown): StrandError {
  const { status } = response
  const message = `${id}: the response with status ${status} is not JSON.`
  const error = 'Bad Answer'
  return new StrandError({ status, error, message, operation: id, response: toResponseInfo(response) }, cause)
}

/** Error codes of Bun, Node and the name resolver for a failed connection. */
const UNREACHED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ConnectionRefused|FailedToOpenSocket)$/

export function noAnswer({ id }: Call, cause: unknown, base: string): StrandError {
  const message = `${id} got no answer: ${whyNot(cause, base)}`
  return new StrandError({ status: 0, error: 'No Answer', message, operation: id }, cause)
}

function whyNot(cause: unknown, base: string): string {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const { origin } = new URL(base)
  const code = errorCode(cause) ?? errorCode((cause as { cause?: unknown })?.cause)
  return code !== undefined && UNREACHED.test(code)
    ? `${origin} cannot be reached (${code})`
    : `${origin}: ${reason}`
}

/** Node puts the code on the cause of the error. */
function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** A base URL for display: without user name and password. */
function describeBase(base: string): string {
  const { origin, pathname } = new URL(base)
  return pathname === '/' ? origin : origin + pathname
}

const readErrorBody = (text: string) => readTexts(text, ['error', 'message'])

/** The wrong input, from its header. */
const readInput = (header: string | null) => readTexts(header ?? '{}', ['field', 'reason'])

function readTexts<Name extends string>(json: string, names: readonly Name[]): Partial<Record<Name, string>> {
  try {
    const values = JSON.parse(json) as Record<string, unknown>
    const texts = names.filter(name => typeof values[name] === 'string').map(name => [name, values[name]])
    return Object.fromEntries(texts)
  } catch {
    return {}
  }
}
