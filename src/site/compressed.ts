/** Fast rather than small: the page is compressed for each request. */
const LEVEL = 3

/**
 * The same response with its body compressed, if the client can read that. Only for pages that repeat no text of the
 * request: the size of others could reveal what they contain.
 */
export async function compressed(response: Response, { headers }: Request): Promise<Response> {
  response.headers.set('Vary', 'Accept-Encoding')
  if (!/\bgzip\b/.test(headers.get('accept-encoding') ?? '')) return response
  response.headers.set('Content-Encoding', 'gzip')
  return new Response(Bun.gzipSync(await response.arrayBuffer(), { level: LEVEL }), response)
}
