/**
 * The least that a server on this runtime can do: one constant response to every request. It is the baseline for all others.
 * `bun bench/baselines/bare-server.ts <file with the body> [with-headers]` prints its port. With headers, it does what no server of
 * this API can omit: it reads the request's id and token, and its response has the nine headers of GetStreams.
 */
import { readFileSync } from 'node:fs'

const [file, mode] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: bench/baselines/bare-server.ts <file with the body> [with-headers]')
  process.exit(2)
}
const body = readFileSync(file)
const headers = { 'Content-Type': 'application/json' }
const nine = new Headers({
  ...headers,
  'Cache-Control': 'public, max-age=1',
  Vary: 'Authorization',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Ratelimit-Limit, Ratelimit-Remaining, Ratelimit-Reset, X-Request-Id, Retry-After',
  'Ratelimit-Limit': '800',
  'Ratelimit-Remaining': '800',
  'Ratelimit-Reset': '1',
})

function answerWithHeaders(request: Request): Response {
  const given = request.headers.get('x-request-id')
  const token = request.headers.get('authorization')
  nine.set('X-Request-Id', given ?? crypto.randomUUID())
  return new Response(token === '' ? null : body, { headers: nine })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: mode === 'with-headers' ? answerWithHeaders : () => new Response(body, { headers }),
})
console.log(server.port)
