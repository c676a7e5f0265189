/**
 * Callbacks of media servers: `/ingest/<adapter>/<server>/<secret>`, or with the secret as a parameter. `recordings` is the
 * URL at which viewers get the recordings of the media server. The secret is in the
 * URL because some media servers can send it in no other way; it is never logged.
 */
import { readBody } from '../../kit/read-body.ts'
import type { RequestContext } from '../request-context.ts'

const PREFIX = '/ingest/'
const BODY_LIMITS = { bytes: 64 * 1024, milliseconds: 5000 }

/** What a media server sent, as `ingest/adapters` reads it. */
interface Callback {
  readonly form?: URLSearchParams
  readonly json?: Readonly<Record<string, unknown>>
  readonly recordingsUrl?: string
}

interface CallbackResponse {
  readonly status: number
  readonly location?: string
  readonly json?: unknown
}

/** Answers callbacks; `Server` is the media server that a secret belongs to. */
export interface CallbackHandler<Server> {
  findServer(caller: {
    readonly adapter: string
    readonly server: string
    readonly secret: string
    readonly address: string
  }): Promise<Server | undefined>
  answer(server: Server, callback: Callback): Promise<CallbackResponse>
}

export const isIngestPath = (path: string): boolean => path.startsWith(PREFIX)

export async function answerCallback<Server>(
  handler: CallbackHandler<Server>,
  context: RequestContext,
): Promise<Response> {
  const { request, path, search, method, address } = context
  const query = new URLSearchParams(search)
  const [adapter = '', name = '', inPath] = path.slice(PREFIX.length).split('/')
  const secret = inPath || (query.get('secret') ?? '')
  const server = await handler.findServer({ adapter, server: name, secret, address: address() })
  if (server === undefined) return new Response(null, { status: 403 })
  if (method === 'GET') return asResponse(await handler.answer(server, { form: query }))
  if (method !== 'POST') return new Response(null, { status: 405, headers: { Allow: 'GET, POST' } })
  const body = await readBody(request, BODY_LIMITS)
  if (body.outcome !== 'complete')
    return new Response(null, { status: body.outcome === 'too_large' ? 413 : 400 })
  const callback = parse(context.headers.get('content-type') ?? '', body.bytes)
  if (callback === undefined) return new Response(null, { status: 400 })
  // Of the configuration: what publishers send is in the body.
  const recordingsUrl = query.get('recordings')
  return asResponse(
    await handler.answer(server, { ...callback, ...(recordingsUrl !== null && { recordingsUrl }) }),
  )
}

/** A form if it is declared as one; otherwise JSON, whatever it is declared as. */
function parse(type: string, bytes: Uint8Array): Callback | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return { form: new URLSearchParams(text) }
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
    return { json: json as Readonly<Record<string, unknown>> }
  } catch {
    return undefined
  }
}

function asResponse({ status, location, json }: CallbackResponse): Response {
  const headers = {
    ...(location !== undefined && { Location: location }),
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
  }
  return new Response(json === undefined ? null : JSON.stringify(json), { status, headers })
}
