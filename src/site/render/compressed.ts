import { LruCache } from '../../kit/lru-cache.ts'

/** Fast rather than small: the page of a user is compressed for each request. */
const LEVEL = 3
/** Visitors who are not logged in all get the same page, one for each set of families. */
const REMEMBERED_PAGES = 4

const remembered = new LruCache<Uint8Array<ArrayBuffer>>(REMEMBERED_PAGES)

/**
 * The same response with its body compressed, if the client can read that. Only for pages that repeat no text of the
 * request: the size of others could reveal what they contain.
 */
export async function compressed(response: Response, { headers }: Request): Promise<Response> {
  response.headers.set('Vary', 'Accept-Encoding')
  if (!/\bgzip\b/.test(headers.get('accept-encoding') ?? '')) return response
  response.headers.set('Content-Encoding', 'gzip')
  const text = await response.text()
  const bytes = remembered.get(text) ?? Bun.gzipSync(text, { level: LEVEL })
  remembered.set(text, bytes)
  return new Response(bytes, response)
}
