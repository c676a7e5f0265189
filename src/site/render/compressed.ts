import { LruCache } from '../../kit/lru-cache.ts'

/** Fast rather than small: the page of a user is compressed for each request. */
const LEVEL = 3
/** Visitors who are not logged in all get the same page, one for each set of families. */
const REMEMBERED_PAGES = 4

const remembered = new LruCache<Uint8Array<ArrayBuffer>>(REMEMBERED_PAGES)

/**
 * The body of a page and the headers that describe it, compressed if the client can read that. Only for pages that repeat no
 * text of the request: the size of others could reveal what they contain.
 */
export function compressed(html: string, request: Request) {
  const headers = { Vary: 'Accept-Encoding' }
  if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) return { body: html, headers }
  const body = remembered.get(html) ?? Bun.gzipSync(html, { level: LEVEL })
  remembered.set(html, body)
  return { body, headers: { ...headers, 'Content-Encoding': 'gzip' } }
}
