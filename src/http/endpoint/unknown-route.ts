/**
 * Why a path under /helix has no operation. The message names the operation of Helix that the caller meant, so that a
 * developer need not guess whether the server or the program is wrong. Always a 404, or a 410 for what Helix removed:
 * clients read the message of a 404 and retry a 5xx (D-100).
 */
import { HELIX_OPERATIONS, type HelixOperation, REMOVED_OPERATIONS } from '../../contract/helix-reference.ts'
import { helixOperations } from '../../contract/index.ts'
import type { Method } from '../../contract/operation.ts'
import { type Refusal, refuse } from '../../contract/problem.ts'
import { nearestName } from '../../kit/nearest.ts'

/** The time to find the nearest path grows with the length of the request's; no path of Helix is longer. */
const MAX_COMPARED = 64

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Offered methods by path below /helix. */
const offered = Map.groupBy(
  Object.values(helixOperations).map(({ method, path }) => ({ method, path: path.slice('/helix'.length) })),
  ({ path }) => path,
)
const reference = Map.groupBy(HELIX_OPERATIONS, ({ path }) => path)
const removed = Map.groupBy(REMOVED_OPERATIONS, ({ path }) => path)
const paths = [...new Set([...offered.keys(), ...reference.keys()])]

export function explainUnknownRoute(method: string, requested: string): Refusal {
  const { prefix, path } = split(requested)
  const gone = removed.get(path)?.find(each => each.method === method)
  if (gone !== undefined) return refuse('operation_removed', gone.name, gone.advice)
  const known = reference.get(path) ?? []
  const meant = known.find(each => each.method === method)
  const atPath = offered.get(path)
  if (meant === undefined && atPath !== undefined) {
    const methods = METHODS.filter(each => atPath.some(operation => operation.method === each))
    return refuse('method_unknown', method, requested, methods)
  }
  const missing = meant === undefined ? known : [meant]
  if (missing.length > 0)
    return refuse(
      'operation_not_offered',
      missing.map(each => operationTitle(each, prefix)),
    )
  // Under an alias of one path no other path is there.
  const candidates = prefix === '' ? paths.filter(each => each.startsWith(EVENTSUB)) : paths
  const nearest = path.length > MAX_COMPARED ? undefined : nearestName(path, candidates)
  // The nearest path may be one that is not offered: a more distant one would be a wrong guess.
  if (nearest === undefined || !offered.has(nearest)) return refuse('route_unknown')
  return refuse('path_misspelled', method, requested, prefix + nearest)
}

/** Where client libraries look for subscriptions on a local mock server: the same as under /helix (D-1). */
export const EVENTSUB = '/eventsub/'

/** `/mock/users` is `/users` below `/mock`. */
function split(requested: string): { prefix: string; path: string } {
  if (requested.startsWith(EVENTSUB)) return { prefix: '', path: requested }
  const end = requested.indexOf('/', 1)
  return end < 0
    ? { prefix: requested, path: '' }
    : { prefix: requested.slice(0, end), path: requested.slice(end) }
}

function operationTitle({ method, path, name }: HelixOperation, prefix: string): string {
  return `${name} (${method} ${prefix}${path})`
}
