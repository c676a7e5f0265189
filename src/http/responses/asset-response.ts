import { ASSET_PREFIX, findAsset } from '../../site/build/assets.ts'
import { asksToSee } from '../../site/pages.ts'
import type { RequestContext } from '../request-context.ts'

export const isAssetPath = (path: string): boolean => path.startsWith(ASSET_PREFIX)

const HEADERS = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept-Encoding',
}
/** The name changes with the content. */
const FOREVER = 'public, max-age=31536000, immutable'

/** A script or style sheet of a page; undefined if there is none. */
export async function answerAsset({
  path,
  method,
  headers,
  requestId,
}: RequestContext): Promise<Response | undefined> {
  if (!asksToSee(method)) return undefined
  const asset = await findAsset(path)
  if (asset === undefined) return undefined
  const isGzipped = /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
  return new Response(isGzipped ? asset.gzipped : asset.text, {
    headers: {
      ...HEADERS,
      'Content-Type': asset.type,
      ...(isGzipped && { 'Content-Encoding': 'gzip' }),
      'Cache-Control': path === asset.path ? FOREVER : 'no-store',
      'X-Request-Id': requestId,
    },
  })
}
