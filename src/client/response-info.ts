/** The state of the rate limit after a call. */
export interface RateState {
  /** Points of a full bucket. */
  readonly limit: number
  /** Points that are left. */
  readonly remaining: number
  /** When the bucket is full again, by the server's clock. */
  readonly reset: Date
}

/** What a response has beside its body. */
export interface ResponseInfo {
  readonly status: number
  readonly headers: Headers
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined
  /** Undefined for calls without a rate limit in their headers, such as those of the control API. */
  readonly rate: RateState | undefined
}

export function toResponseInfo({ status, headers }: Pick<Response, 'status' | 'headers'>): ResponseInfo {
  return { status, headers, requestId: headers.get('x-request-id') ?? undefined, rate: readRate(headers) }
}

function readRate(headers: Headers): RateState | undefined {
  const limit = wholeNumber(headers, 'ratelimit-limit')
  const remaining = wholeNumber(headers, 'ratelimit-remaining')
  const reset = wholeNumber(headers, 'ratelimit-reset')
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return { limit, remaining, reset: new Date(reset * 1000) }
}

export function wholeNumber(headers: Headers, name: string): number | undefined {
  const text = headers.get(name) ?? ''
  return /^[0-9]{1,12}$/.test(text) ? Number(text) : undefined
}
