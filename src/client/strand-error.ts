import type { Operation } from '../contract/operation.ts'
import { reasonPhrases } from '../contract/problem.ts'

/** What a call ended with instead of an answer. */
export class StrandError extends Error {
  override readonly name = 'StrandError'
  /** The HTTP status; 0 where no answer came at all. */
  readonly status: number
  /** The reason in two words, such as `Not Found`. */
  readonly error: string
  /** The name of the operation, such as `GetStreams`. */
  readonly operation: string
  /** Names the request in the server's log. */
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

/** An answer whose text has come whole. */
export interface Heard {
  readonly response: Pick<Response, 'ok' | 'status' | 'statusText' | 'headers'>
  readonly text: string
}

/** The error that an answer tells of; what stands in front of the server may answer with something other than JSON. */
export function errorOf({ id }: Operation, { response, text }: Heard): StrandError {
  const { status } = response
  const told = readTold(text)
  return new StrandError({
    status,
    error: told.error ?? reasonPhrases[status] ?? (response.statusText || 'Error'),
    message: told.message ?? `${id} was answered ${status} without a reason.`,
    operation: id,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
}

export function noAnswer({ id }: Operation, cause: unknown): StrandError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = `${id} got no answer: ${reason}`
  return new StrandError({ status: 0, error: 'No Answer', message, operation: id }, cause)
}

function readTold(text: string): { error?: string | undefined; message?: string | undefined } {
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
