import { ASSET_PREFIX, findAsset, findFont } from '../../site/build/assets.ts'
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

/** A script, a style sheet or a font of a page; undefined if there is none. */
export async function answerAsset({
  path,
  method,
  headers,
  requestId,
}: RequestContext): Promise<Response | undefined> {
  if (!asksToSee(method)) return undefined
  const text = await findAsset(path)
  const asset = text ?? (await findFont(path))
  if (asset === undefined) return undefined
  const gzipped = /\bgzip\b/.test(headers.get('accept-encoding') ?? '') ? text?.gzipped : undefined
  return new Response(gzipped ?? ('text' in asset ? asset.text : asset.bytes), {
    headers: {
      ...HEADERS,
      'Content-Type': asset.type,
      ...(gzipped && { 'Content-Encoding': 'gzip' }),
      'Cache-Control': path === asset.path ? FOREVER : 'no-store',
      'X-Request-Id': requestId,
    },
  })
}
