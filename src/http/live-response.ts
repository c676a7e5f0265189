import { raise } from '../contract/problem.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Store } from '../store/store.ts'
import { type MediaNode, redirectTo } from './media-redirect.ts'
import type { RequestContext } from './request-context.ts'

const LIVE_PATH = /^\/live\/([A-Za-z0-9_]{1,25})\.flv$/

export const isLivePath = (path: string): boolean => path.startsWith('/live/')

/** The login in the path of a broadcast. */
export const loginOf = (path: string): string | undefined => LIVE_PATH.exec(path)?.[1]?.toLowerCase()

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

/** A broadcast as FLV. One that another node receives is watched there: video passes through one node only. */
export async function answerLive(
  login: string,
  channels: LiveChannels,
  node: MediaNode & { readonly store: Store },
  context: RequestContext,
): Promise<Response> {
  const headers = { ...HEADERS, 'X-Request-Id': context.requestId }
  if (!channels.has(login)) return answerElsewhere(login, node, context, headers)
  const typed = { ...headers, 'Content-Type': 'video/x-flv' }
  if (context.method === 'HEAD') return new Response(null, { headers: typed })
  const broadcast = channels.watch(login, context.address()) ?? raise('not_live', login)
  if (broadcast === 'full') return raise('viewers_full')
  context.holdOpen()
  return new Response(broadcast, { headers: typed })
}

async function answerElsewhere(
  login: string,
  node: MediaNode & { readonly store: Store },
  context: RequestContext,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const url = await node.store.streams.watchUrlOf(login)
  if (url === null && node.store.engine === 'postgres') return raise('broadcast_elsewhere', login)
  return redirectTo(url ?? '', `/live/${login}.flv`, node, context, headers) ?? raise('not_live', login)
}
