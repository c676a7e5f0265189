import { type Refusal, refuse } from '../../contract/problem.ts'
import type { LiveChannels } from '../../media/live-channels.ts'
import type { DemoControls } from '../../operations/demo-controls.ts'
import { asksToSee } from '../../site/pages.ts'
import type { Store } from '../../store/store.ts'
import { fullBucket } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'
import { answerInvented } from './invented-response.ts'
import { type MediaNode, redirectTo } from './media-redirect.ts'

const LIVE_PATH = /^\/live\/([A-Za-z0-9_]{1,25})\.flv$/
const HLS_PATH = /^\/live\/([A-Za-z0-9_]{1,25})(?:\.m3u8|\/[^/]+\/[^/]+\.(?:m3u8|mp4|m4s))$/

export const isLivePath = (path: string): boolean => path.startsWith('/live/')

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  // nginx would put video into files for viewers who are slow.
  'X-Accel-Buffering': 'no',
}

/** For players on other sites that ask before they send a header such as Range. */
export function answerMediaPreflight({ requestId }: RequestContext): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
      'Access-Control-Allow-Headers': 'Range',
      'Access-Control-Max-Age': '86400',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
    },
  })
}

interface LiveSources {
  readonly liveChannels: LiveChannels
  readonly services: MediaNode & { readonly store: Store; readonly demo?: DemoControls }
}

/** A broadcast, for everyone and without a point. Undefined: there is none at this path. */
export function answerLive(
  sources: LiveSources,
  context: RequestContext,
): Response | Promise<Response | Refusal> | undefined {
  context.allowance = fullBucket(Date.now())
  if (context.method === 'OPTIONS') return answerMediaPreflight(context)
  if (!asksToSee(context.method)) return undefined
  const invented = HLS_PATH.exec(context.path)?.[1]
  if (invented !== undefined) return answerHls(invented, sources, context)
  const login = LIVE_PATH.exec(context.path)?.[1]?.toLowerCase()
  return login === undefined ? undefined : answerBroadcast(login, sources, context)
}

/** Only what a demo invents is HLS. */
async function answerHls(
  login: string,
  { services }: LiveSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  return (await answerInvented(services.demo, context)) ?? refuse('not_live', login.toLowerCase())
}

/** A broadcast as FLV. One that another node receives is watched there: video passes through one node only. */
async function answerBroadcast(
  login: string,
  { liveChannels: channels, services: node }: LiveSources,
  context: RequestContext,
): Promise<Response | Refusal> {
  const headers = { ...HEADERS, 'X-Request-Id': context.requestId }
  if (!channels.has(login)) return answerElsewhere(login, node, context, headers)
  const typed = { ...headers, 'Content-Type': 'video/x-flv' }
  if (context.method === 'HEAD') return new Response(null, { headers: typed })
  const broadcast = channels.watch(login, context.address())
  if (broadcast === undefined) return refuse('not_live', login)
  if (broadcast === 'full') return refuse('viewers_full')
  context.holdOpen()
  return new Response(broadcast, { headers: typed })
}

async function answerElsewhere(
  login: string,
  node: MediaNode & { readonly store: Store },
  context: RequestContext,
  headers: Readonly<Record<string, string>>,
): Promise<Response | Refusal> {
  const url = await node.store.streams.watchUrlOf(login)
  if (url === null && node.store.engine === 'postgres') return refuse('broadcast_elsewhere', login)
  return redirectTo(url ?? '', `/live/${login}.flv`, node, context, headers) ?? refuse('not_live', login)
}
