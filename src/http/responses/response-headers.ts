import type { Family } from '../../contract/operation.ts'
import type { Allowance } from '../limits/rate-limit.ts'

type HeaderBag = Readonly<Record<string, string>>

/** With `Date`, scripts of pages can compare the reset with the server's clock. */
const EXPOSED =
  'Ratelimit-Limit, Ratelimit-Remaining, Ratelimit-Reset, X-Request-Id, Retry-After, Strand-Error, Date'

/** Headers of every response. The control API sends no CORS headers: web pages of other sites must not use it. */
export function commonHeaders(family: Family | undefined): HeaderBag {
  const common = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (family === undefined || family === 'control') return common
  return { ...common, 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED }
}

/** The response to a preflight (D-18): sent before authentication, without taking a point. */
const PREFLIGHT: HeaderBag = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Client-Id, Content-Type, Idempotency-Key',
  'Access-Control-Expose-Headers': EXPOSED,
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'no-store',
}

type Body = string | Blob | ReadableStream<Uint8Array> | null

/** The parts of a response that depend on the request. */
interface PerRequest {
  readonly requestId: string
  /** Present on every response under /helix (D-17). */
  readonly allowance: Allowance | undefined
  /** Set to the body of the response. */
  answer?: Body
}

/** Cached sets of rate limit headers per kind of response. */
const SLOTS = 32

/** Headers, and the allowance that they were last filled in with. */
interface FilledHeaders {
  readonly headers: Headers
  limit: number
  remaining: number
  reset: number
}

/**
 * The headers of one kind of response. They are created once and filled in for each response, because the runtime copies
 * native `Headers` several times faster than it reads an object with nine fields. Setting a header is expensive as well.
 * Callers with little traffic have nearly the same number of points left, so filled-in headers are cached by that number
 * and mostly match.
 */
export class ResponseHeaders {
  readonly #fixed: Headers
  readonly #filled: (FilledHeaders | undefined)[] = Array(SLOTS).fill(undefined)

  constructor(fixed: HeaderBag) {
    this.#fixed = new Headers(fixed)
  }

  respond(status: number, body: Body, request: PerRequest): Response {
    const { requestId, allowance } = request
    request.answer = body
    const headers = allowance === undefined ? this.#fixed : this.#headersFor(allowance)
    headers.set('X-Request-Id', requestId)
    // The default needs no look at the option.
    return status === 200 ? new Response(body, { headers }) : new Response(body, { status, headers })
  }

  #headersFor({ limit, remaining, reset }: Allowance): Headers {
    const slot = remaining % SLOTS
    this.#filled[slot] ??= { headers: new Headers(this.#fixed), limit: -1, remaining: -1, reset: -1 }
    const filled = this.#filled[slot]
    const { headers } = filled
    if (filled.limit !== limit) headers.set('Ratelimit-Limit', String(limit))
    if (filled.remaining !== remaining) headers.set('Ratelimit-Remaining', String(remaining))
    if (filled.reset !== reset) headers.set('Ratelimit-Reset', String(reset))
    filled.limit = limit
    filled.remaining = remaining
    filled.reset = reset
    return headers
  }
}

export const preflightHeaders = new ResponseHeaders(PREFLIGHT)

const plain = new ResponseHeaders(commonHeaders(undefined))
const byFamily: Readonly<Record<Family, ResponseHeaders>> = {
  helix: new ResponseHeaders(commonHeaders('helix')),
  drops: new ResponseHeaders(commonHeaders('drops')),
  oauth: new ResponseHeaders(commonHeaders('oauth')),
  playback: new ResponseHeaders(commonHeaders('playback')),
  control: new ResponseHeaders(commonHeaders('control')),
}

/** For error responses, and for paths outside the families. */
export function selectResponseHeaders(family: Family | undefined): ResponseHeaders {
  return family === undefined ? plain : byFamily[family]
}
