/** What the request queue refuses requests with. Prepared: under overload, refusing must cost next to nothing. */
import type { Family } from '../../contract/operation.ts'
import { problem } from '../../contract/problem.ts'
import { failureBody } from '../failure.ts'
import { commonHeaders, ResponseHeaders } from './response-headers.ts'

interface PreparedResponse {
  readonly headers: ResponseHeaders
  readonly body: string
}

export const OVERLOADED = problem('unavailable')

/** For browsers, when there is no time to render a page. */
export const OVERLOADED_PAGE: PreparedResponse = {
  headers: new ResponseHeaders({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Retry-After': '3',
  }),
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="3"><title>Busy</title><h1>This server is busy</h1><p>The page is loaded again in a few seconds.</p>',
}

const prepared = new Map<Family | undefined, PreparedResponse>()

/** The error in the form of a family. */
export function overloadedIn(family: Family | undefined): PreparedResponse {
  const known = prepared.get(family)
  if (known !== undefined) return known
  const headers = { ...commonHeaders(family), 'Strand-Error': OVERLOADED.name, ...OVERLOADED.headers }
  const made = { headers: new ResponseHeaders(headers), body: failureBody(family, OVERLOADED) }
  prepared.set(family, made)
  return made
}
