/** The least that a server on this runtime can do: one constant response to every request. Prints its port. */
const { body }: { body: string } = await Bun.file(process.argv[2] ?? '').json()
const bytes = Buffer.from(body)
const headers = { 'Content-Type': 'application/json' }
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: () => new Response(bytes, { headers }),
})
console.log(server.port)
