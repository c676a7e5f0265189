/**
 * The least that a server on this runtime can do: one constant answer, whatever is asked. The measure of all others.
 * `bun bench/bare-server.ts <file with the body> [dressed]`; prints its port. Dressed, it does what no server of this API
 * can leave out: it reads the request's id and token, and its answer has the nine headers of a GetStreams answer.
 */
import { readFileSync } from 'node:fs'

const [file, render] = process.argv.slice(2)
if (file === undefined) {
  console.error('bench/bare-server.ts needs the file with the body that it is to answer')
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

function answerRendered(request: Request): Response {
  const given = request.headers.get('x-request-id')
  const token = request.headers.get('authorization')
  nine.set('X-Request-Id', given ?? crypto.randomUUID())
  return new Response(token === '' ? null : body, { headers: nine })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: render === 'dressed' ? answerRendered : () => new Response(body, { headers }),
})
console.log(server.port)
