import { type Family, familyOf } from '../contract/operation.ts'
import { EVENTSUB } from './endpoint/unknown-route.ts'

/** The families that a listener serves. */
export type ServedFamilies = readonly Family[]

/** Path prefixes, including those that client libraries use for a local mock server (D-1). */
const PREFIXES: readonly (readonly [prefix: string, Family])[] = [
  ['/helix/', 'helix'],
  ['/mock/', 'helix'],
  [EVENTSUB, 'helix'],
  ['/drops/', 'drops'],
  ['/oauth2/', 'oauth'],
  ['/auth/', 'oauth'],
  ['/playback/', 'playback'],
  ['/control/', 'control'],
]

/** The family of a path. `/helix` itself belongs to its family, though it has no operation; `/drops` is a page. */
export function familyAt(path: string): Family | undefined {
  if (path === '/drops') return undefined
  return PREFIXES.find(([prefix]) => path.startsWith(prefix) || path === prefix.slice(0, -1))?.[1]
}

/** All paths of an operation, one for each prefix of its family. Subscriptions are also at the root (D-1). */
export function operationPaths({ path }: { readonly path: string }): string[] {
  const family = familyOf({ path })
  const [, , rest = ''] = /^(\/[^/]+\/)(.*)$/.exec(path) ?? []
  const paths = PREFIXES.filter(([prefix, of]) => of === family && prefix !== EVENTSUB).map(
    ([prefix]) => prefix + rest,
  )
  return `/${rest}`.startsWith(EVENTSUB) ? [...paths, `/${rest}`] : paths
}
