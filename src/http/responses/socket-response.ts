import { isRefusal, type Refusal, refuse } from '../../contract/problem.ts'
import type { EventSockets } from '../../events/sockets/event-sockets.ts'
import { isKeepalive } from '../../events/sockets/event-sockets.ts'
import { parseQuery } from '../endpoint/parse.ts'
import { fullBucket } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'

export const isSocketPath = (path: string): boolean => path === '/ws'

/** Accepts a WebSocket, for everyone: the token comes with its first subscription. */
export function answerSocket(sockets: EventSockets, context: RequestContext): Response | Refusal {
  context.allowance = fullBucket(Date.now())
  if (context.headers.get('upgrade')?.toLowerCase() !== 'websocket') return refuse('upgrade_required')
  const query = readScalars(context.search, ['keepalive_timeout_seconds', 'reconnect'])
  if (isRefusal(query)) return query
  const keepalive = query.get('keepalive_timeout_seconds')
  if (keepalive !== undefined && !isKeepalive(keepalive))
    return refuse(
      'malformed_parameter',
      'keepalive_timeout_seconds',
      'the value must be an integer from 10 to 600',
    )
  const leave = sockets.takePlace(context.address())
  if (leave === undefined) return refuse('sockets_full')
  if (context.upgrade({ keepalive, reconnect: query.get('reconnect'), leave })) return UPGRADED
  leave()
  return refuse('upgrade_required')
}

/** The values of parameters that are given at most once; an empty one counts as absent (D-11). */
function readScalars(search: string, names: readonly string[]): ReadonlyMap<string, string> | Refusal {
  const values = new Map<string, string>()
  for (const [name, value] of parseQuery(search)) {
    if (value === '' || !names.includes(name)) continue
    if (values.has(name)) return refuse('repeated_parameter', name)
    values.set(name, value)
  }
  return values
}

/** The runtime has answered already. */
export const UPGRADED = new Response(null, { status: 101 })
