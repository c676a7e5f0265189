import http from 'node:http'
import type { BlockList } from 'node:net'
import { resolveCaller } from '../auth/callers.ts'
import type { Family } from '../contract/operation.ts'
import { type Problem, problem } from '../contract/problem.ts'
import { uuid } from '../kit/id.ts'
import type { Implementation } from '../operations/implement.ts'
import { clientAddress } from './client-address.ts'
import { type Counter, Endpoint } from './endpoint.ts'
import { asProblem, failureBody } from './failure.ts'
import { addRateHeaders, commonHeaders, type HeaderBag, PREFLIGHT } from './headers.ts'
import { fullBucket } from './rate-limit.ts'
import { Router } from './router.ts'

/** The same handlers answer under the names that client libraries use for a local server (D-1). */
const ALIASES: readonly (readonly [prefix: string, canonical: string, Family])[] = [
  ['/helix/', '/helix/', 'helix'],
  ['/mock/', '/helix/', 'helix'],
  ['/oauth2/', '/oauth2/', 'oauth'],
  ['/auth/', '/oauth2/', 'oauth'],
  ['/control/', '/control/', 'control'],
]

/** Three lists of 100 values make a request line of about 10 KB; the runtime's own limit leaves little beside it. */
Object.assign(http, { maxHeaderSize: 32 * 1024 })

/** How long a stop waits for the answers under way. */
const LAST_ANSWERS_MILLISECONDS = 15_000

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export interface ServerOptions extends Counter {
  readonly implementations: readonly Implementation[]
  readonly trustedProxies: BlockList
  /** The OpenAPI document, as text. */
  openapi(): string
  readonly version: string
  /** Whether requests can be answered well; asked by /readyz. */
  isReady(): Promise<boolean>
}

/** Which families a listener answers. */
export type Side = readonly Family[]

/** Takes every request and gives every answer; nothing thrown gets past it. */
export class Application {
  readonly #options: ServerOptions
  readonly #router = new Router<Endpoint>()

  constructor(options: ServerOptions) {
    this.#options = options
    for (const implementation of options.implementations) {
      const { operation } = implementation
      if (operation.demoOnly && options.rooms.demo === undefined) continue
      this.#router.add(operation.method, operation.path, new Endpoint(implementation, options))
    }
  }

  async handle(request: Request, peer: () => string, side: Side): Promise<Response> {
    const began = performance.now()
    const requestId = requestIdOf(request)
    const { path, search } = splitUrl(request.url)
    const [prefix, canonical, family] = aliasOf(path) ?? []
    const isHere = family === undefined || side.includes(family)
    const headers = commonHeaders(isHere ? family : undefined, requestId)
    let endpoint: Endpoint | undefined
    let response: Response
    let failure: Problem | undefined
    try {
      if (family === undefined || prefix === undefined || canonical === undefined || !isHere) {
        response = await this.#answerPlain(request, path, headers)
      } else if (request.method === 'OPTIONS' && family !== 'control') {
        response = new Response(null, { status: 204, headers: { ...PREFLIGHT, 'X-Request-Id': requestId } })
      } else {
        const { trustedProxies } = this.#options
        const address = () => clientAddress(peer(), request.headers.get('x-forwarded-for'), trustedProxies)
        const found = this.#router.find(request.method, canonical + path.slice(prefix.length))
        if (found === undefined) {
          if (family === 'helix') await this.#chargeForNothing(request, address, headers)
          throw problem('route_unknown')
        }
        endpoint = found.target
        response = await endpoint.answer({ request, search, params: found.params, address, headers })
      }
    } catch (thrown) {
      failure = asProblem(thrown, endpoint?.operation, this.#options.rooms.log)
      response = new Response(failureBody(isHere ? family : undefined, failure), {
        status: failure.status,
        headers: { ...headers, 'Content-Type': 'application/json', ...failure.headers },
      })
    }
    const { log } = this.#options.rooms
    if (log.isLevelEnabled('debug')) {
      const operation = endpoint?.operation.id
      const ms = Math.round((performance.now() - began) * 100) / 100
      const { method } = request
      log.debug(
        { request_id: requestId, operation, method, status: response.status, problem: failure?.name, ms },
        'answered',
      )
    }
    return response
  }

  async #answerPlain(request: Request, path: string, headers: HeaderBag): Promise<Response> {
    const { openapi, version, isReady } = this.#options
    if (request.method !== 'GET') throw problem('route_unknown')
    switch (path) {
      case '/healthz':
        return Response.json({ status: 'ok' }, { headers })
      case '/readyz': {
        const ready = await isReady()
        return Response.json(
          { status: ready ? 'ready' : 'not ready' },
          { status: ready ? 200 : 503, headers },
        )
      }
      case '/openapi.json':
        return new Response(openapi(), { headers: { ...headers, 'Access-Control-Allow-Origin': '*' } })
      case '/':
        return Response.json(
          { name: 'Strand', version, helix: '/helix', oauth: '/oauth2', reference: '/openapi.json' },
          { headers },
        )
      default:
        throw problem('route_unknown')
    }
  }

  /** An unknown path costs its point like every answer, and is told as unknown even from an empty bucket. */
  async #chargeForNothing(request: Request, address: () => string, headers: HeaderBag): Promise<void> {
    const { rooms, limiter } = this.#options
    const authorization = request.headers.get('authorization')
    const resolution = await resolveCaller(rooms.callers, authorization, rooms.clock.now()).catch(
      () => 'invalid' as const,
    )
    addRateHeaders(
      headers,
      limiter.take(resolution === 'invalid' ? { kind: 'anonymous' } : resolution, address),
    )
  }
}

/** The family that a path belongs to; `/helix` itself is one of its paths, though nothing is there. */
function aliasOf(path: string): (typeof ALIASES)[number] | undefined {
  return ALIASES.find(([prefix]) => path.startsWith(prefix) || path === prefix.slice(0, -1))
}

/** The request's own id if it is well formed, else a new one (D-20). */
function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && REQUEST_ID.test(given) ? given : uuid()
}

/** Path, its dots already resolved by the runtime, and query string. Without a host the URL has no scheme either. */
function splitUrl(url: string): { path: string; search: string } {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const question = url.indexOf('?', start)
  if (question < 0) return { path: url.slice(start), search: '' }
  return { path: url.slice(start, question), search: url.slice(question + 1) }
}

/** The answer while the store is still being opened: alive, not ready. */
export function answerBeforeReady(request: Request): Response {
  const { path } = splitUrl(request.url)
  const family = aliasOf(path)?.[2]
  const headers = commonHeaders(family, requestIdOf(request))
  if (path === '/healthz') return Response.json({ status: 'ok' }, { headers })
  if (family === 'helix') addRateHeaders(headers, fullBucket(Date.now()))
  const failure = problem('unavailable')
  return new Response(failureBody(family, failure), {
    status: failure.status,
    headers: { ...headers, ...failure.headers },
  })
}

/** Where the server listens. `localhost` stands for both loopback addresses. */
export interface Listening {
  readonly port: number
  stop(): Promise<void>
}

/** Takes connections from now on; whoever handles them may still be getting ready. */
export function listen(
  host: string,
  port: number,
  handle: (request: Request, peer: () => string) => Response | Promise<Response>,
  options: { sharesPort: boolean },
): Listening {
  const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  const servers: ReturnType<typeof Bun.serve>[] = []
  for (const hostname of hosts) {
    try {
      servers.push(
        Bun.serve({
          hostname,
          port: servers[0]?.port ?? port,
          development: false,
          // Left to the runtime, any second server would share the port in silence.
          reusePort: options.sharesPort,
          idleTimeout: 12,
          maxRequestBodySize: Number.MAX_SAFE_INTEGER,
          fetch: (request, server) => handle(request, () => server.requestIP(request)?.address ?? ''),
        }),
      )
    } catch (error) {
      // A machine without IPv6 serves the other loopback address alone.
      if (servers.length === 0 || (error as { code?: string }).code === 'EADDRINUSE') {
        for (const server of servers) server.stop(true)
        throw error
      }
    }
  }
  return {
    port: servers[0]?.port ?? port,
    stop: async () => {
      for (const server of servers) server.stop()
      // What was begun is finished, unless it never ends; connections that only wait for another request are closed then.
      const deadline = performance.now() + LAST_ANSWERS_MILLISECONDS
      while (servers.some(server => server.pendingRequests > 0) && performance.now() < deadline)
        await Bun.sleep(5)
      for (const server of servers) await server.stop(true)
    },
  }
}
