import { type Call, reasonPhrases, routeUnknownMessage } from './calls.ts'

/** The error that a failed call throws. */
export class StrandError extends Error {
  override readonly name = 'StrandError'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** The reason phrase, such as `Not Found`. */
  readonly error: string
  /** The name of the operation, such as `GetStreams`. */
  readonly operation: string
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined

  constructor(
    what: {
      status: number
      error: string
      message: string
      operation: string
      requestId?: string | undefined
    },
    cause?: unknown,
  ) {
    super(what.message, { cause })
    this.status = what.status
    this.error = what.error
    this.operation = what.operation
    this.requestId = what.requestId
  }
}

/** A response whose body was read completely. */
export interface ReceivedResponse {
  readonly response: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers'>
  readonly text: string
}

/** The error in a response. A proxy in front of the server may answer with something other than JSON. */
export function errorOf({ id }: Call, { response, text }: ReceivedResponse, base: string): StrandError {
  const { status } = response
  const reported = readErrorBody(text)
  const message = reported.message ?? `${id} failed with status ${status}; the response has no error message.`
  const isNoRoute = reported.message === undefined || reported.message === routeUnknownMessage
  return new StrandError({
    status,
    error: reported.error ?? reasonPhrases[status] ?? (response.statusText || 'Error'),
    message: status === 404 && isNoRoute ? `${message} Is ${placeOf(base)} the right base URL?` : message,
    operation: id,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
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
  if (!URL.canParse(base)) return reason
  const { origin } = new URL(base)
  const code = codeOf(cause) ?? codeOf((cause as { cause?: unknown })?.cause)
  return code !== undefined && UNREACHED.test(code)
    ? `${origin} cannot be reached (${code})`
    : `${origin}: ${reason}`
}

/** Node puts the code on the cause of the error. */
function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** A base URL for display: without user name and password. */
function placeOf(base: string): string {
  if (!URL.canParse(base)) return base
  const { origin, pathname } = new URL(base)
  return pathname === '/' ? origin : origin + pathname
}

function readErrorBody(text: string): { error?: string | undefined; message?: string | undefined } {
  try {
    const { error, message } = JSON.parse(text) as Record<string, unknown>
    return {
      error: typeof error === 'string' ? error : undefined,
      message: typeof message === 'string' ? message : undefined,
    }
  } catch {
    return {}
  }
}
