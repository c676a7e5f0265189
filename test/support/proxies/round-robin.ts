import type { StrandServer } from '../../../src/server/serve.ts'

/**
 * Several nodes behind one address, each request to the next one. What a write changed reaches the memory of the other nodes
 * within a second; a test does not want to wait for that, so here a write is answered when all have caught up.
 */
export class RoundRobin {
  readonly #nodes: StrandServer[] = []
  readonly #server: ReturnType<typeof Bun.serve>
  #turn = 0

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: 0,
      fetch: request => this.#pass(request),
    })
  }

  get url(): string {
    return `http://localhost:${this.#server.port}`
  }

  add(node: StrandServer): void {
    this.#nodes.push(node)
  }

  async close(): Promise<void> {
    await this.#server.stop(true)
  }

  async #pass(request: Request): Promise<Response> {
    const node = this.#nodes[this.#turn++ % this.#nodes.length]
    if (node === undefined) throw new Error('there is no node yet')
    const path = request.url.slice(request.url.indexOf('/', request.url.indexOf('://') + 3))
    const body = request.body === null ? undefined : await request.arrayBuffer()
    const response = await fetch(node.url + path, {
      method: request.method,
      headers: request.headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    })
    if (request.method !== 'GET') for (const each of this.#nodes) await each.catchUp()
    return new Response(response.body, response)
  }
}
