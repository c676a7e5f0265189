import { LruCache } from '../../kit/lru-cache.ts'

/** Fast rather than small: the page of a user is compressed for each session. */
const LEVEL = 3
/** Visitors who are not logged in share a page for each theme and language of examples. */
const REMEMBERED_PAGES = 4

/**
 * Large parts of a page that are the same for everyone. The page of a visitor is rendered without them, which leaves what
 * differs between visitors, and the compressed page is remembered by that text: nothing large is rendered, compressed or
 * compared for each request. Only for pages that repeat no text of the request: the size of others could reveal what they
 * contain.
 */
export class ConstantParts {
  readonly #parts: readonly string[]
  readonly #remembered = new LruCache<Uint8Array<ArrayBuffer>>(REMEMBERED_PAGES)

  /** @param parts as HTML */
  constructor(parts: readonly string[]) {
    this.#parts = parts
  }

  /** What stands in the page for a part. Text of users cannot contain it: there `<` is escaped. */
  placeholder(index: number): string {
    return `<!--part ${index}-->`
  }

  /** The body of the whole page and the headers that describe it, compressed if the client can read that. */
  insertInto(rendered: string, request: Request) {
    const headers = { Vary: 'Accept-Encoding' }
    const whole = () =>
      this.#parts.reduce((html, part, n) => html.replace(this.placeholder(n), () => part), rendered)
    if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')) return { body: whole(), headers }
    const body = this.#remembered.get(rendered) ?? Bun.gzipSync(whole(), { level: LEVEL })
    this.#remembered.set(rendered, body)
    return { body, headers: { ...headers, 'Content-Encoding': 'gzip' } }
  }
}
