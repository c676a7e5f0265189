import type { ErrorCode } from './api.ts'
import type { RateState, ResponseInfo } from './response-info.ts'

/** The error that a failed call throws. */
export class StrandError extends Error {
  override readonly name = 'StrandError'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /**
   * The name of the error, such as `token_invalid`: stable, unlike the message. Undefined if there was no response, or if it
   * is not from Strand.
   */
  readonly code: ErrorCode | undefined
  /** The input that is wrong, if the error is about one: its name in the contract. */
  readonly field: string | undefined
  /** What that input must be, such as `must be at most 140 characters`; undefined if it is missing. */
  readonly reason: string | undefined
  /** The reason phrase, such as `Not Found`. */
  readonly error: string
  /** The name of the operation, such as `GetStreams`. */
  readonly operation: string
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined
  /** The headers of the response; undefined if there was none. */
  readonly headers: Headers | undefined
  /** The state of the rate limit, if the response has it. */
  readonly rate: RateState | undefined

  constructor(
    what: {
      readonly status: number
      readonly error: string
      readonly message: string
      readonly operation: string
      readonly field?: string | undefined
      readonly reason?: string | undefined
      readonly response?: ResponseInfo | undefined
    },
    cause?: unknown,
  ) {
    super(what.message, { cause })
    this.status = what.status
    this.error = what.error
    this.operation = what.operation
    this.field = what.field
    this.reason = what.reason
    const { headers, requestId, rate } = what.response ?? {}
    this.code = (headers?.get('strand-error') ?? undefined) as ErrorCode | undefined
    this.requestId = requestId
    this.headers = headers
    this.rate = rate
  }
}
