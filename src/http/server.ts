import http from 'node:http'
import { ANONYMOUS, type Resolution, resolveCaller } from '../auth/callers.ts'
import { type Family, familyOf } from '../contract/operation.ts'
import { type Problem, problem, raise } from '../contract/problem.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import { EXPOSITION_TYPE } from '../kit/metrics.ts'
import { asRequest } from '../kit/request-scope.ts'
import type { Implementation } from '../operations/implement.ts'
import { asksToSee, type Pages } from '../pages/pages.ts'
import { clientAddress, type Networks } from './client-address.ts'
import { Endpoint, type EndpointDependencies } from './endpoint.ts'
import { isFromThisMachine } from './exposure.ts'
import { asProblem, failureBody, logFieldsOf } from './failure.ts'
import { isWellFormedHost } from './host.ts'
import { fullBucket } from './rate-limit.ts'
import { RequestContext } from './request-context.ts'
import { preflightHeaders, responseHeadersOf } from './response-headers.ts'
import { Router } from './router.ts'
import { StoreFailures } from './store-failures.ts'

/** The same handlers answer under the names that client libraries use for a local server (D-1). */
const PREFIXES: readonly (readonly [prefix: string, Family])[] = [
  ['/helix/', 'helix'],
  ['/mock/', 'helix'],
  ['/oauth2/', 'oauth'],
  ['/auth/', 'oauth'],
  ['/control/', 'control'],
]

/** Three lists of 100 values make a request line of about 10 KB; the runtime's own limit leaves little beside it. */
Object.assign(http, { maxHeaderSize: 32 * 1024 })

/** How often the log says that the operator's side was asked for from outside. */
const WARNING_MILLISECONDS = 60_000
/** How long a connection may be silent; and one on which long work is done, which is as long as the runtime allows. */
const IDLE_SECONDS = 12
const HELD_OPEN_SECONDS = 255

/**
 * The runtime's own limit on bodies: a larger announced length gets an empty 413 and the connection is closed. It lies this
 * far above what any route of a listener takes, so that a body that is merely too large is refused in the form of D-4.
 */
const MARGIN_BYTES = 16 * 1024 * 1024

/** How long a stop waits for the answers under way. */
const LAST_ANSWERS_MILLISECONDS = 15_000

export interface ServerOptions extends EndpointDependencies {
  readonly implementations: readonly Implementation[]
  readonly pages: Pages
  readonly trustedProxies: Networks
  /** The OpenAPI document, as text. */
  openapi(): string
  /** The reference as a page about these families, and the headers that go with it. */
  docs(families: readonly Family[]): string
  readonly docsHeaders: Readonly<Record<string, string>>
  readonly version: string
  /** A line for each request at level info, and not only at debug. */
  readonly accessLog: boolean
  /** Whether requests can be answered well; asked by /readyz. */
  isReady(): Promise<boolean>
  /** How old what is shown from memory may be; told by /readyz. */
  staleSeconds(): number
  /** What /metrics shows. */
  metrics(): Promise<string>
}

/** Which families a listener answers. */
export type Side = readonly Family[]

/** Takes every request and gives every answer; nothing thrown gets past it. */
export class Application {
  readonly #options: ServerOptions
  readonly #router = new Router<Endpoint>()
  /** The level of the line that each request gets; undefined for none. */
  readonly #answerLevel: 'info' | 'debug' | undefined
  readonly #storeFailures: StoreFailures
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(options: ServerOptions) {
    this.#options = options
    const { log } = options.services
    const level = options.accessLog ? 'info' : 'debug'
    this.#answerLevel = log.isLevelEnabled(level) ? level : undefined
    this.#storeFailures = new StoreFailures(log)
    for (const implementation of options.implementations) {
      const { operation } = implementation
      if (operation.demoOnly && options.services.demo === undefined) continue
      const endpoint = new Endpoint(implementation, options)
      for (const path of pathsOf(operation)) this.#router.add(operation.method, path, endpoint)
    }
  }

  handle(request: Request, peer: Peer, side: Side): MaybePromise<Response> {
    const { trustedProxies } = this.#options
    const context = new RequestContext(
      request,
      () => clientAddress(peer.address(), request.headers.get('x-forwarded-for'), trustedProxies),
      () => peer.holdOpen(),
    )
    this.#options.traffic.begin()
    try {
      const answer = asRequest(() => this.#answer(context, side))
      if (!(answer instanceof Promise)) return this.#conclude(context, answer)
      return answer.then(
        response => this.#conclude(context, response),
        thrown => this.#refuse(context, thrown),
      )
    } catch (thrown) {
      return this.#refuse(context, thrown)
    }
  }

  /** Called now and then: logs it when requests no longer fail because of the store. */
  logRecovery(storeAnswers: () => Promise<boolean>): Promise<void> {
    return this.#storeFailures.settle(storeAnswers)
  }

  #answer(context: RequestContext, side: Side): MaybePromise<Response> {
    const found = this.#router.find(context.method, context.path)
    const { pages, traffic } = this.#options
    if (!isWellFormedHost(context.headers.get('host'))) return this.#answerBadHost(context)
    if (found === undefined && side.includes('oauth') && pages.has(context.method, context.path)) {
      context.tally = traffic.pages
      return pages.answer(context).catch(thrown => pages.refuse(context, this.#explain(context, thrown)))
    }
    const family = found === undefined ? familyAt(context.path) : found.target.family
    if (family === undefined || !side.includes(family)) return this.#answerOutside(context, side)
    if (family === 'control' && !this.#showsControl(context, side)) return this.#answerOutside(context, side)
    context.family = family
    if (found === undefined) return this.#answerUnknown(context, family)
    context.operation = found.target.operation
    context.tally = found.target.tally
    return found.target.answer(context, found.params)
  }

  #refuse(context: RequestContext, thrown: unknown): Response {
    return this.#conclude(context, refusal(context, this.#explain(context, thrown)))
  }

  /** What was thrown, as its caller may see it; whatever else is known goes to the log. */
  #explain(context: RequestContext, thrown: unknown): Problem {
    const { log } = this.#options.services
    const failure = asProblem(thrown, context, { log, storeFailures: this.#storeFailures })
    context.failure = failure
    return failure
  }

  /** Before authentication, like the runtime's own complaints about a head; under /helix the headers of D-17 are there. */
  #answerBadHost(context: RequestContext): never {
    context.tally = this.#options.traffic.unknown
    context.family = familyAt(context.path)
    if (context.family === 'helix') context.allowance = fullBucket(Date.now())
    return raise('malformed_host')
  }

  /** Counts the answer, and logs it where that is wanted. */
  #conclude(context: RequestContext, response: Response): Response {
    const { traffic } = this.#options
    const milliseconds = performance.now() - context.began
    traffic.end(context.tally ?? traffic.unknown, response.status, milliseconds, context.failure?.name)
    if (this.#answerLevel !== undefined) this.#log(this.#answerLevel, context, response, milliseconds)
    return response
  }

  /** The path and the query are left out: they may hold ids, logins and codes. The operation says what was asked. */
  #log(level: 'info' | 'debug', context: RequestContext, { status }: Response, milliseconds: number): void {
    const { method, failure, clientKind } = context
    const ms = Math.round(milliseconds * 100) / 100
    this.#options.services.log[level](
      {
        ...logFieldsOf(context),
        method,
        status,
        problem: failure?.name,
        ms,
        client: clientKind,
      },
      'answered',
    )
  }

  /**
   * Whether this request is shown the operator's side. On a listener of its own it always is; where that is shared with
   * the public side, only if it does not come through a proxy. The log tells what to do, the answer nothing.
   */
  #showsControl({ headers, path }: RequestContext, side: Side): boolean {
    if (!side.includes('control')) return false
    if (!side.includes('helix') || isFromThisMachine(headers)) return true
    const now = performance.now()
    if (path !== '/docs' && now - this.#warnedAt > WARNING_MILLISECONDS) {
      this.#warnedAt = now
      this.#options.services.log.warn(
        "a request for the operator's side came through a proxy, or under a foreign name, and was answered 404: give that side a listener of its own with STRAND_OPERATOR_LISTEN",
      )
    }
    return false
  }

  /** What is there beside the families. Monitors probe it with HEAD; the runtime then sends the head of the answer alone. */
  #answerOutside(context: RequestContext, side: Side): MaybePromise<Response> {
    const { openapi, version, isReady, staleSeconds, traffic } = this.#options
    context.tally = traffic.others
    const reply = (status: number, answer: object) =>
      responseHeadersOf(undefined).respond(status, JSON.stringify(answer), context)
    switch (asksToSee(context.method) && context.path) {
      case '/healthz':
        return reply(200, { status: 'ok' })
      case '/readyz':
        return isReady().then(ready => {
          const stale_seconds = Math.round(staleSeconds() * 10) / 10
          return ready
            ? reply(200, { status: 'ready', stale_seconds })
            : reply(503, { status: 'not ready', stale_seconds })
        })
      case '/openapi.json': {
        const response = responseHeadersOf(undefined).respond(200, openapi(), context)
        response.headers.set('Access-Control-Allow-Origin', '*')
        return response
      }
      case '/docs':
        return this.#answerDocs(context, side)
      case '/metrics':
        return this.#showsControl(context, side) ? this.#answerMetrics(context) : this.#answerNothing(context)
      case '/':
        return reply(200, {
          name: 'Strand',
          version,
          helix: '/helix',
          oauth: '/oauth2',
          reference: '/openapi.json',
          docs: '/docs',
        })
      default:
        return this.#answerNothing(context)
    }
  }

  #answerDocs(context: RequestContext, side: Side): Response {
    const { docs, docsHeaders } = this.#options
    const families = this.#showsControl(context, side) ? side : side.filter(family => family !== 'control')
    return new Response(docs(families), {
      headers: { ...docsHeaders, 'X-Request-Id': context.requestId },
    })
  }

  async #answerMetrics(context: RequestContext): Promise<Response> {
    const response = responseHeadersOf(undefined).respond(200, await this.#options.metrics(), context)
    response.headers.set('Content-Type', EXPOSITION_TYPE)
    return response
  }

  #answerNothing(context: RequestContext): never {
    context.tally = this.#options.traffic.unknown
    return raise('route_unknown')
  }

  /** An unknown path costs its point like every answer, and is told as unknown even from an empty bucket. */
  #answerUnknown(context: RequestContext, family: Family): MaybePromise<Response> {
    if (context.method === 'OPTIONS' && family !== 'control')
      return preflightHeaders.respond(204, null, context)
    if (family !== 'helix') return raise('route_unknown')
    const { services, limiter } = this.#options
    const takePoint = (resolution: Resolution) =>
      chain(limiter.take(resolution === 'invalid' ? ANONYMOUS : resolution, context.address), allowance => {
        context.allowance = allowance
        return raise('route_unknown')
      })
    const resolved = resolveCaller(services.callers, context.authorization, services.clock)
    return resolved instanceof Promise
      ? resolved.then(takePoint, () => takePoint('invalid'))
      : takePoint(resolved)
  }
}

/** Everywhere that an operation answers. */
function pathsOf({ path }: { readonly path: string }): string[] {
  const family = familyOf({ path })
  const [, , rest = ''] = /^(\/[^/]+\/)(.*)$/.exec(path) ?? []
  return PREFIXES.filter(([, of]) => of === family).map(([prefix]) => prefix + rest)
}

/** The family that a path belongs to; `/helix` itself is one of its paths, though nothing is there. */
function familyAt(path: string): Family | undefined {
  return PREFIXES.find(([prefix]) => path.startsWith(prefix) || path === prefix.slice(0, -1))?.[1]
}

function refusal(context: RequestContext, failure: Problem): Response {
  const { family } = context
  const body = failureBody(family, failure, context.operation)
  const response = responseHeadersOf(family).respond(failure.status, body, context)
  for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
  return response
}

/** The answer while the store is still being opened: alive, not ready. */
export function answerBeforeReady(request: Request): Response {
  const context = new RequestContext(request, () => '')
  if (context.path === '/healthz')
    return responseHeadersOf(undefined).respond(200, '{"status":"ok"}', context)
  context.family = familyAt(context.path)
  if (context.family === 'helix') context.allowance = fullBucket(Date.now())
  return refusal(context, problem('unavailable'))
}

/** The runtime's limit on bodies for a listener that answers these families. */
export function maxBodyBytesOf(side: Side, { importBytes }: { readonly importBytes: number }): number {
  return MARGIN_BYTES + (side.includes('control') ? importBytes : 0)
}

/** Whoever is at the other end of a connection. */
export interface Peer {
  address(): string
  /** Lets the connection be silent for minutes. */
  holdOpen(): void
}

/** Where the server listens. `localhost` stands for both loopback addresses. */
export interface Listening {
  readonly port: number
  /** From now on every answer is the last on its connection: whoever asks again has to come in anew, or elsewhere. */
  drain(): void
  stop(): Promise<void>
}

/** Takes connections from now on; whoever handles them may still be getting ready. */
export function listen(
  host: string,
  port: number,
  handle: (request: Request, peer: Peer) => Response | Promise<Response>,
  options: { sharesPort: boolean; maxBodyBytes: number },
): Listening {
  const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  const servers: ReturnType<typeof Bun.serve>[] = []
  let draining = false
  for (const hostname of hosts) {
    const addressOf = LOOPBACK.test(hostname) ? () => hostname : peerAddress
    try {
      servers.push(
        Bun.serve({
          hostname,
          port: servers[0]?.port ?? port,
          development: false,
          // Left to the runtime, any second server would share the port in silence.
          reusePort: options.sharesPort,
          idleTimeout: IDLE_SECONDS,
          maxRequestBodySize: options.maxBodyBytes,
          fetch: (request, server) => {
            const answer = handle(request, {
              address: () => addressOf(request, server),
              holdOpen: () => server.timeout(request, HELD_OPEN_SECONDS),
            })
            return draining ? chain(answer, asLastAnswer) : answer
          },
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
    drain: () => {
      draining = true
    },
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

/**
 * A listener there has peers on this machine alone. Which of its addresses they use makes no difference, and asking the runtime
 * costs about as much as all other work of a rate limit.
 */
const LOOPBACK = /^127(?:\.[0-9]+){3}$|^::1$/

function peerAddress(request: Request, server: Bun.Server<unknown>): string {
  return server.requestIP(request)?.address ?? ''
}

function asLastAnswer(response: Response): Response {
  response.headers.set('Connection', 'close')
  return response
}
