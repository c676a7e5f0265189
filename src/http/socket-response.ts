import { raise } from '../contract/problem.ts'
import type { EventSockets, SocketRequest } from '../events/event-sockets.ts'
import { isKeepalive } from '../events/event-sockets.ts'
import { parseQuery } from './parse.ts'
import type { RequestContext } from './request-context.ts'

export const isSocketPath = (path: string): boolean => path === '/ws'

/** Accepts a WebSocket, for everyone: the token comes with its first subscription. */
export function answerSocket(
  sockets: EventSockets,
  context: RequestContext,
  upgrade: (request: SocketRequest) => boolean,
): Response {
  if (context.headers.get('upgrade')?.toLowerCase() !== 'websocket') return raise('upgrade_required')
  const query = new Map(parseQuery(context.search).filter(([, value]) => value !== ''))
  const keepalive = query.get('keepalive_timeout_seconds')
  if (keepalive !== undefined && !isKeepalive(keepalive))
    raise('malformed_parameter', 'keepalive_timeout_seconds', 'the value must be an integer from 10 to 600')
  const leave = sockets.takePlace(context.address()) ?? raise('sockets_full')
  if (upgrade({ keepalive, reconnect: query.get('reconnect'), leave })) return UPGRADED
  leave()
  return raise('upgrade_required')
}

/** The runtime has answered already. */
export const UPGRADED = new Response(null, { status: 101 })
