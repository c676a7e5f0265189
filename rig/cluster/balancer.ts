/**
 * What stands in front of the nodes: each request goes to the next one, whatever connection it came on, over a
 * separate connection. A node that refuses a connection has not seen the request, so the next one gets it; so does a request that
 * may be repeated and lost its connection. Anything else that was not answered may have happened: the caller hears 502 or
 * 504. A page of the directory that a node answers with 503 is asked for at the next one. That is what deploy/nginx.conf
 * does. A node whose /readyz fails, or is silent, is passed over as long as there is another one.
 */
import type { StrandNode } from './strand-node.ts'

const CHECK_MILLISECONDS = 250
const HEALTH_MILLISECONDS = 1000
const ANSWER_MILLISECONDS = 15_000
const REPEATABLE = new Set(['GET', 'PUT', 'DELETE'])
const DIRECTORY = new Set(['/helix/streams', '/helix/streams/followed'])
const REFUSALS = new Set(['ConnectionRefused', 'ECONNREFUSED'])

/** The header that names the node. */
export const SERVED_BY = 'x-served-by'

export class Balancer {
  readonly #nodes: readonly StrandNode[]
  readonly #absent = new Set<StrandNode>()
  readonly #server: ReturnType<typeof Bun.serve>
  readonly #checks: Timer[]
  #turn = 0

  constructor(nodes: readonly StrandNode[]) {
    this.#nodes = nodes
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 60,
      fetch: request => this.#forward(request),
    })
    this.#checks = nodes.map(node => setInterval(() => void this.#check(node), CHECK_MILLISECONDS))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  async close(): Promise<void> {
    for (const check of this.#checks) clearInterval(check)
    await this.#server.stop(true)
  }

  async #check(node: StrandNode): Promise<void> {
    const options = { signal: AbortSignal.timeout(HEALTH_MILLISECONDS), keepalive: false }
    const isWell = await fetch(`${node.url}/readyz`, options).then(
      answer => answer.arrayBuffer().then(() => answer.ok),
      () => false,
    )
    if (isWell) this.#absent.delete(node)
    else this.#absent.add(node)
  }

  #next(tried: ReadonlySet<StrandNode>): StrandNode | undefined {
    for (const mayBeAbsent of [false, true]) {
      for (let step = 0; step < this.#nodes.length; step++) {
        const node = this.#nodes[(this.#turn + step) % this.#nodes.length] as StrandNode
        if (tried.has(node) || (!mayBeAbsent && this.#absent.has(node))) continue
        this.#turn = (this.#turn + step + 1) % this.#nodes.length
        return node
      }
    }
    return undefined
  }

  async #forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const body = request.body === null ? null : await request.arrayBuffer()
    const headers = new Headers(request.headers)
    headers.delete('host')
    headers.delete('connection')
    const isOfDirectory = request.method === 'GET' && DIRECTORY.has(pathname)
    const tried = new Set<StrandNode>()
    for (let node = this.#next(tried); node !== undefined; node = this.#next(tried)) {
      tried.add(node)
      try {
        const answer = await fetch(`${node.url}${pathname}${search}`, {
          method: request.method,
          headers,
          body,
          redirect: 'manual',
          keepalive: false,
          signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
        })
        const text = await answer.arrayBuffer()
        if (answer.status === 503 && isOfDirectory && tried.size < this.#nodes.length) continue
        const given = new Headers(answer.headers)
        given.set(SERVED_BY, node.name)
        return new Response(answer.status === 204 ? null : text, { status: answer.status, headers: given })
      } catch (error) {
        const { code, name } = error as { code?: string; name?: string }
        const isLate = name === 'TimeoutError'
        if (REFUSALS.has(code ?? '') || (!isLate && REPEATABLE.has(request.method))) {
          this.#absent.add(node)
          continue
        }
        const status = isLate ? 504 : 502
        return new Response(isLate ? '' : String(code ?? name), {
          status,
          headers: { [SERVED_BY]: node.name },
        })
      }
    }
    return new Response('no node answers', { status: 502 })
  }
}
