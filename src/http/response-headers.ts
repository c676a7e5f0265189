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

/**
 * The headers of one kind of answer. They are made once and filled in for each answer, because the runtime copies its own
 * `Headers` into a response several times faster than it reads an object with nine fields.
 */
export class ResponseHeaders {
  readonly #headers: Headers
  /** The allowance that is filled in: callers without a limit, and most answers within a second, share theirs. */
  #shown: Allowance | undefined

  constructor(fixed: HeaderBag) {
    this.#headers = new Headers(fixed)
  }

  respond(
    status: number,
    body: string | Blob | ReadableStream<Uint8Array> | null,
    { requestId, allowance }: Reference,
  ): Response {
    this.#headers.set('X-Request-Id', requestId)
    this.#show(allowance)
    return new Response(body, { status, headers: this.#headers })
  }

  #show(allowance: Allowance | undefined): void {
    const shown = this.#shown
    if (allowance === shown) return
    if (allowance?.limit !== shown?.limit) this.#fill('Ratelimit-Limit', allowance?.limit)
    if (allowance?.remaining !== shown?.remaining) this.#fill('Ratelimit-Remaining', allowance?.remaining)
    if (allowance?.reset !== shown?.reset) this.#fill('Ratelimit-Reset', allowance?.reset)
    this.#shown = allowance
  }

  #fill(name: string, value: number | undefined): void {
    if (value === undefined) this.#headers.delete(name)
    else this.#headers.set(name, String(value))
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
