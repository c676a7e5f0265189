/** What monitors, load balancers and tools ask: whether the server is alive and ready, its metrics, and what it is. */
import { EXPOSITION_TYPE } from '../../kit/telemetry/metrics.ts'
import type { RequestContext } from '../request-context.ts'
import { selectResponseHeaders } from './response-headers.ts'

export interface ServerStatus {
  readonly version: string
  /** The OpenAPI document as JSON text: of the public API, or of all families. */
  readonly openapi: { public(): string; whole(): string }
  /** For /readyz: whether the server can handle requests. */
  isReady(): Promise<boolean>
  /** For /readyz: the maximum age of data served from memory. */
  staleSeconds(): number
  /** The text for /metrics. */
  metrics(): Promise<string>
}

/** Responses carry the mode only if it is on. */
type Mode = { readonly strict?: true }

function respond(context: RequestContext, status: number, body: object | string): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return selectResponseHeaders(undefined).respond(status, text, context)
}

export function answerAlive(context: RequestContext, mode: Mode): Response {
  return respond(context, 200, { status: 'ok', ...mode })
}

export async function answerReady(
  context: RequestContext,
  { isReady, staleSeconds }: Pick<ServerStatus, 'isReady' | 'staleSeconds'>,
  mode: Mode,
): Promise<Response> {
  const ready = await isReady()
  const stale_seconds = Math.round(staleSeconds() * 10) / 10
  return ready
    ? respond(context, 200, { status: 'ready', stale_seconds, ...mode })
    : respond(context, 503, { status: 'not ready', stale_seconds })
}

export async function answerMetrics(
  context: RequestContext,
  { metrics }: Pick<ServerStatus, 'metrics'>,
): Promise<Response> {
  const response = respond(context, 200, await metrics())
  response.headers.set('Content-Type', EXPOSITION_TYPE)
  return response
}

/** The public document may be read by the pages of other sites (D-170). */
export function answerOpenapi(
  context: RequestContext,
  { openapi }: Pick<ServerStatus, 'openapi'>,
  families: 'public' | 'all',
): Response {
  if (families === 'all') return respond(context, 200, openapi.whole())
  const response = respond(context, 200, openapi.public())
  response.headers.set('Access-Control-Allow-Origin', '*')
  return response
}

/** The root, for programs. */
export function answerRoot(
  context: RequestContext,
  { version }: Pick<ServerStatus, 'version'>,
  mode: Mode,
): Response {
  return respond(context, 200, {
    name: 'Strand',
    version,
    helix: '/helix',
    oauth: '/oauth2',
    reference: '/openapi.json',
    docs: '/docs',
    ...mode,
  })
}
