import type { Family } from '../contract/operation.ts'
import type { Allowance } from './rate-limit.ts'

type HeaderBag = Readonly<Record<string, string>>

const EXPOSED = 'Ratelimit-Limit, Ratelimit-Remaining, Ratelimit-Reset, X-Request-Id, Retry-After'

/** What every answer carries. The operator's side is for programs, not for other people's pages. */
export function commonHeaders(family: Family | undefined): HeaderBag {
  const common = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (family === undefined || family === 'control') return common
  return { ...common, 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED }
}

/** The answer to a preflight (D-18): before authentication, without a point. */
const PREFLIGHT: HeaderBag = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Client-Id, Content-Type, Idempotency-Key',
  'Access-Control-Expose-Headers': EXPOSED,
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'no-store',
}

/** What an answer says of the request that it belongs to. */
interface Reference {
  readonly requestId: string
  /** Present on every answer under /helix (D-17). */
  readonly allowance: Allowance | undefined
}

/** So many sets of rate headers are kept for each kind of answer. */
const SLOTS = 32

/** Headers that are filled in with these rates. */
interface Filled {
  readonly headers: Headers
  limit: number
  remaining: number
  reset: number
}

/**
 * The headers of one kind of answer. They are made once and filled in for each answer, because the runtime copies its own
 * `Headers` into a response several times faster than it reads an object with nine fields. Setting a header costs as well:
 * callers who ask for little have nearly the same left, so filled-in headers are kept by what is left, and mostly fit.
 */
export class ResponseHeaders {
  readonly #fixed: Headers
  readonly #filled: (Filled | undefined)[] = Array(SLOTS).fill(undefined)

  constructor(fixed: HeaderBag) {
    this.#fixed = new Headers(fixed)
  }

  respond(
    status: number,
    body: string | Blob | ReadableStream<Uint8Array> | null,
    { requestId, allowance }: Reference,
  ): Response {
    const headers = allowance === undefined ? this.#fixed : this.#headersFor(allowance)
    headers.set('X-Request-Id', requestId)
    return new Response(body, { status, headers })
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
  oauth: new ResponseHeaders(commonHeaders('oauth')),
  control: new ResponseHeaders(commonHeaders('control')),
}

/** For failures, and for what stands outside the families. */
export function responseHeadersOf(family: Family | undefined): ResponseHeaders {
  return family === undefined ? plain : byFamily[family]
}
