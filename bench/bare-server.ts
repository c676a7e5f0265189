/**
 * The least that a server on this runtime can do: one constant answer, whatever is asked. The measure of all others.
 * `bun bench/bare-server.ts <file with the body>`; prints its port.
 */
import { readFileSync } from 'node:fs'

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('bench/bare-server.ts needs the file with the body that it is to answer')
  process.exit(2)
}
const body = readFileSync(file)
const headers = { 'Content-Type': 'application/json' }
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => new Response(body, { headers }),
})
console.log(server.port)
