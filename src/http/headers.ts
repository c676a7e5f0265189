import type { Family } from '../contract/operation.ts'
import type { Allowance } from './rate-limit.ts'

export type HeaderBag = Record<string, string>

const EXPOSED = 'Ratelimit-Limit, Ratelimit-Remaining, Ratelimit-Reset, X-Request-Id, Retry-After'

/** The answer to a preflight (D-18): before authentication, without a point. */
export const PREFLIGHT: Readonly<HeaderBag> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Client-Id, Content-Type, Idempotency-Key',
  'Access-Control-Expose-Headers': EXPOSED,
  'Access-Control-Max-Age': '86400',
  'Cache-Control': 'no-store',
}

/** What every answer carries. The operator's side is for programs, not for other people's pages. */
export function commonHeaders(family: Family | undefined, requestId: string): HeaderBag {
  const headers: HeaderBag = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  }
  if (family === 'helix' || family === 'oauth') {
    headers['Access-Control-Allow-Origin'] = '*'
    headers['Access-Control-Expose-Headers'] = EXPOSED
  }
  return headers
}

export function addRateHeaders(headers: HeaderBag, allowance: Allowance): void {
  headers['Ratelimit-Limit'] = String(allowance.limit)
  headers['Ratelimit-Remaining'] = String(allowance.remaining)
  headers['Ratelimit-Reset'] = String(allowance.reset)
}
