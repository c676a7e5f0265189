import { playerScript } from '../pages/player-script.ts'
import type { RequestContext } from './request-context.ts'

const PREFIX = '/assets/'

export const isAssetPath = (path: string): boolean => path.startsWith(PREFIX)

const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept-Encoding',
}
/** The name changes with the content. */
const FOREVER = 'public, max-age=31536000, immutable'

/**
 * The script of a page. During an upgrade, a page may come from a node of another release than its script: any name of the
 * script gets the one of this node, but only its right name is cached.
 */
export async function answerAsset({
  path,
  headers,
  requestId,
}: RequestContext): Promise<Response | undefined> {
  if (!/^\/assets\/player-[0-9a-f]{16}\.js$/.test(path)) return undefined
  const script = await playerScript()
  const isGzipped = /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
  return new Response(isGzipped ? script.gzipped : script.text, {
    headers: {
      ...HEADERS,
      ...(isGzipped && { 'Content-Encoding': 'gzip' }),
      'Cache-Control': path === script.path ? FOREVER : 'no-store',
      'X-Request-Id': requestId,
    },
  })
}
