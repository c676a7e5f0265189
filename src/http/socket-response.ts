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
  const query = readScalars(context.search, ['keepalive_timeout_seconds', 'reconnect'])
  const keepalive = query.get('keepalive_timeout_seconds')
  if (keepalive !== undefined && !isKeepalive(keepalive))
    raise('malformed_parameter', 'keepalive_timeout_seconds', 'the value must be an integer from 10 to 600')
  const leave = sockets.takePlace(context.address()) ?? raise('sockets_full')
  if (upgrade({ keepalive, reconnect: query.get('reconnect'), leave })) return UPGRADED
  leave()
  return raise('upgrade_required')
}

/** The values of parameters that are given at most once; an empty one counts as absent (D-11). */
function readScalars(search: string, names: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of parseQuery(search)) {
    if (value === '' || !names.includes(name)) continue
    if (values.has(name)) raise('repeated_parameter', name)
    values.set(name, value)
  }
  return values
}

/** The runtime has answered already. */
export const UPGRADED = new Response(null, { status: 101 })
