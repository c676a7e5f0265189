import { ANONYMOUS, type Resolution, resolveCaller } from '../auth/callers.ts'
import { type Family, familyOf } from '../contract/operation.ts'
import { isRefusal, Problem, problem, raise } from '../contract/problem.ts'
import type { Caller } from '../domain/caller.ts'
import type { EventSockets } from '../events/event-sockets.ts'
import { type ImageName, isImagePath, readImagePath } from '../images/image-name.ts'
import type { Images } from '../images/images.ts'
import { chain, type MaybePromise } from '../kit/maybe-promise.ts'
import { EXPOSITION_TYPE } from '../kit/metrics.ts'
import { asRequest } from '../kit/request-scope.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Recordings } from '../media/recordings.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import type { Implementation } from '../operations/implement.ts'
import { asksForPage, asksToSee, isConsolePath, type Pages } from '../site/pages.ts'
import { answerStarting } from '../site/starting-page.ts'
import { answerAsset, isAssetPath } from './asset-response.ts'
import { ForwardedAddresses, type Networks } from './client-address.ts'
import { concludeDemoRequest } from './demo-request.ts'
import { Endpoint, type EndpointDependencies } from './endpoint.ts'
import { isFromThisMachine } from './exposure.ts'
import { asProblem, failureBody, logFieldsOf } from './failure.ts'
import { isWellFormedHost } from './host.ts'
import { answerFromCache, answerImage } from './image-response.ts'
import { answerCallback, type CallbackHandler, isIngestPath } from './ingest-response.ts'
import type { Peer } from './listen.ts'
import { answerLive, answerMediaPreflight, isLivePath, loginOf } from './live-response.ts'
import { OVERLOADED, OVERLOADED_PAGE, overloadedIn } from './overload-response.ts'
import { fullBucket } from './rate-limit.ts'
import { answerRecording, recordedVideoOf } from './recording-response.ts'
import { NO_ORIGIN, RequestContext } from './request-context.ts'
import { RequestDeadlines } from './request-deadlines.ts'
import type { Need, RequestQueue } from './request-queue.ts'
import { preflightHeaders, responseHeadersOf } from './response-headers.ts'
import { type Match, Router } from './router.ts'
import { answerSocket, isSocketPath } from './socket-response.ts'
import { StoreFailures } from './store-failures.ts'
import { answerThumbnail, cacheControlOf, mayHaveThumbnail } from './thumbnail-response.ts'
import { EVENTSUB, explainUnknownRoute } from './unknown-route.ts'

/** Path prefixes, including those that client libraries use for a local mock server (D-1). */
const PREFIXES: readonly (readonly [prefix: string, Family])[] = [
  ['/helix/', 'helix'],
  ['/mock/', 'helix'],
  [EVENTSUB, 'helix'],
  ['/oauth2/', 'oauth'],
  ['/auth/', 'oauth'],
  ['/playback/', 'playback'],
  ['/control/', 'control'],
]

/** The document of all families, wherever the control API is. */
const CONTROL_OPENAPI = '/control/openapi.json'

/** Minimum time between warnings about control API requests from outside. */
const WARNING_MILLISECONDS = 60_000

export interface ServerOptions extends EndpointDependencies {
  readonly implementations: readonly Implementation[]
  readonly pages: Pages
  readonly images: Images
  readonly liveChannels: LiveChannels
  readonly recordings: Recordings | undefined
  /** Undefined: all pictures are drawn. */
  readonly thumbnails: Thumbnails | undefined
  readonly callbacks: CallbackHandler<unknown>
  readonly eventSockets: EventSockets
  readonly queue: RequestQueue
  readonly trustedProxies: Networks
  /** The OpenAPI document as JSON text: of the public API, or of all families. */
  readonly openapi: { public(): string; whole(): string }
  readonly version: string
  /** Log each request at level info instead of debug. */
  readonly accessLog: boolean
  /** For /readyz: whether the server can handle requests. */
  isReady(): Promise<boolean>
  /** For /readyz: the maximum age of data served from memory. */
  staleSeconds(): number
  /** The text for /metrics. */
  metrics(): Promise<string>
}

/** The route of a request; undefined if it is not an operation. */
type Found = Match<Endpoint> | undefined

/** Answered whatever waits: monitors and load balancers decide by them. */
const NEVER_WAITS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** The families that a listener serves. */
export type Side = readonly Family[]

export const PUBLIC_SIDE: Side = ['helix', 'oauth', 'playback']

/** Handles every request. Never throws: errors become responses. */
export class Application {
  readonly #options: ServerOptions
  readonly #router = new Router<Endpoint>()
  /** The log level for requests; undefined if it is disabled. */
  readonly #accessLevel: 'info' | 'debug' | undefined
  readonly #storeFailures: StoreFailures
  readonly #forwarded: ForwardedAddresses
  readonly #deadlines = new RequestDeadlines()
  /** Only PostgreSQL asks which request a query belongs to. */
  readonly #hasScopes: boolean
  /** The last well-formed `Host`: clients rarely change it, and comparing is cheaper than checking. */
  #knownHost = ''
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(options: ServerOptions) {
    this.#options = options
    const { log } = options.services
    const level = options.accessLog ? 'info' : 'debug'
    this.#accessLevel = log.isLevelEnabled(level) ? level : undefined
    this.#storeFailures = new StoreFailures(log)
    this.#forwarded = new ForwardedAddresses(options.trustedProxies, log)
    this.#hasScopes = options.services.store.engine === 'postgres'
    for (const implementation of options.implementations) {
      const { operation } = implementation
      if (operation.demoOnly && options.services.demo === undefined) continue
      const endpoint = new Endpoint(implementation, options)
      for (const path of pathsOf(operation)) this.#router.add(operation.method, path, endpoint)
    }
  }

  /** A request of a listener, which waits or is refused if more arrive than this process can answer. */
  receive(request: Request, peer: Peer, side: Side): MaybePromise<Response> {
    const context = new RequestContext(request, peer, this.#forwarded)
    const found = this.#router.find(context.method, context.path)
    const need = this.#needOf(context, found, side)
    context.hasPlace = need === 'place'
    this.#options.traffic.begin()
    return this.#options.queue.run(
      need,
      context.began,
      () => this.#handle(context, found, peer, side),
      () => this.#answerOverload(context, found),
    )
  }

  /** A request from inside this process. `operator`: on whose behalf the console calls. */
  handle(request: Request, peer: Peer, side: Side, operator?: Caller): MaybePromise<Response> {
    const context = new RequestContext(request, peer, this.#forwarded)
    context.operator = operator
    this.#options.traffic.begin()
    return this.#handle(context, this.#router.find(context.method, context.path), peer, side)
  }

  #handle(context: RequestContext, found: Found, peer: Peer, side: Side): MaybePromise<Response> {
    const { demo } = this.#options.services
    const response = this.#handleSafely(context, found, peer, side)
    return demo === undefined ? response : concludeDemoRequest(demo, context, response)
  }

  #handleSafely(context: RequestContext, found: Found, peer: Peer, side: Side): MaybePromise<Response> {
    try {
      const answer = this.#hasScopes
        ? asRequest(() => this.#answer(context, found, side, peer))
        : this.#answer(context, found, side, peer)
      if (!(answer instanceof Promise)) return this.#conclude(context, answer)
      return this.#deadlines.limit(context, answer).then(
        response => this.#conclude(context, response),
        thrown => this.#refuse(context, thrown),
      )
    } catch (thrown) {
      return this.#refuse(context, thrown)
    }
  }

  /** Health checks, operators and media servers never wait; pictures and broadcasts have bounds of their own. */
  #needOf(context: RequestContext, found: Found, side: Side): Need {
    if (!side.includes('helix')) return 'free'
    const isRead = asksToSee(context.method)
    if (found !== undefined) {
      if (found.target.family === 'control') return 'free'
      return isRead && !found.target.isFromMemory ? 'place' : 'thread'
    }
    const { path } = context
    if (NEVER_WAITS.has(path) || isConsolePath(path) || isIngestPath(path)) return 'free'
    return isRead && this.#options.pages.has(context) ? 'place' : 'thread'
  }

  /** Prepared, because answering it must cost next to nothing. */
  #answerOverload(context: RequestContext, found: Found): Response {
    const { traffic, pages } = this.#options
    context.hasPlace = false
    context.failure = OVERLOADED
    context.family = found?.target.family ?? familyAt(context.path)
    const isPage = found === undefined && pages.has(context)
    context.tally = found?.target.tally ?? (isPage ? traffic.pages : traffic.others)
    if (context.family === 'helix') context.allowance = fullBucket(Date.now())
    const { headers, body } = isPage ? OVERLOADED_PAGE : overloadedIn(context.family)
    return this.#conclude(context, headers.respond(503, body, context))
  }

  /** A proxy in front of this server that no setting names. */
  get unnamedProxy(): string | undefined {
    return this.#forwarded.unnamed
  }

  /** Whether the server can handle requests. */
  isReady(): Promise<boolean> {
    return this.#options.isReady()
  }

  /** Called periodically: logs when requests no longer fail because of the store. */
  logRecovery(storeAnswers: () => Promise<boolean>): Promise<void> {
    return this.#storeFailures.settle(storeAnswers)
  }

  #answer(context: RequestContext, found: Found, side: Side, peer: Peer): MaybePromise<Response> {
    if (!this.#hasGoodHost(context)) return this.#answerBadHost(context)
    if (isImagePath(context.path) && side.includes('helix')) return this.#answerImage(context)
    return found !== undefined && this.#serves(found.target.family, context, side)
      ? this.#answerOperation(context, found)
      : this.#answerOther(context, side, peer)
  }

  #hasGoodHost({ headers }: RequestContext): boolean {
    const host = headers.get('host')
    if (host === this.#knownHost) return true
    if (!isWellFormedHost(host)) return false
    this.#knownHost = host ?? ''
    return true
  }

  #serves(family: Family, context: RequestContext, side: Side): boolean {
    return side.includes(family) && (family !== 'control' || this.#allowsControl(context, side))
  }

  #answerOperation(context: RequestContext, { target, params }: Match<Endpoint>): MaybePromise<Response> {
    context.family = target.family
    context.operation = target.operation
    context.tally = target.tally
    return target.answer(context, params)
  }

  /** What is not an operation of this side. */
  #answerOther(context: RequestContext, side: Side, peer: Peer): MaybePromise<Response> {
    const { pages, traffic } = this.#options
    if (isIngestPath(context.path) && this.#allowsControl(context, side)) return this.#answerCallback(context)
    if (isLivePath(context.path) && side.includes('helix')) return this.#answerLive(context)
    if (isSocketPath(context.path) && side.includes('helix')) return this.#answerSocket(context, peer)
    const recorded = recordedVideoOf(context.path)
    if (recorded !== undefined && side.includes('helix')) return this.#answerRecording(context, recorded)
    if (isAssetPath(context.path)) return this.#answerAsset(context)
    const hasPages = isConsolePath(context.path) ? this.#allowsControl(context, side) : side.includes('oauth')
    if (hasPages && pages.has(context)) {
      context.tally = traffic.pages
      return pages.answer(context).catch(thrown => this.#answerFailedPage(context, thrown))
    }
    const family = familyAt(context.path)
    if (family === undefined || !this.#serves(family, context, side))
      return this.#answerOutside(context, side)
    if (context.path === CONTROL_OPENAPI && asksToSee(context.method)) {
      context.tally = traffic.others
      return this.#answerOpenapi(context, ['control'])
    }
    context.family = family
    return this.#answerUnknownRoute(context, family)
  }

  #refuse(context: RequestContext, thrown: unknown): Response {
    return this.#conclude(context, errorResponse(context, this.#problemOf(context, thrown)))
  }

  /** The problem to return for a thrown value; details go to the log. */
  #problemOf(context: RequestContext, thrown: unknown): Problem {
    const { log } = this.#options.services
    const failure = asProblem(thrown, context, { log, storeFailures: this.#storeFailures })
    context.failure = failure
    return failure
  }

  /** Rejected before authentication, like other malformed requests; under /helix with the headers of D-17. */
  #answerBadHost(context: RequestContext): never {
    context.tally = this.#options.traffic.unknown
    context.family = familyAt(context.path)
    if (context.family === 'helix') context.allowance = fullBucket(Date.now())
    return raise('malformed_host')
  }

  /** As a page, unless there is none at this path. */
  #answerFailedPage(context: RequestContext, thrown: unknown): MaybePromise<Response> {
    const failure = this.#problemOf(context, thrown)
    if (failure.name !== 'route_unknown') return this.#options.pages.refuse(context, failure)
    context.tally = this.#options.traffic.unknown
    return errorResponse(context, failure)
  }

  /** Counts the response, and logs it if enabled. */
  #conclude(context: RequestContext, response: Response): Response {
    const { traffic, queue } = this.#options
    if (context.hasPlace) {
      context.hasPlace = false
      queue.leave()
    }
    const milliseconds = performance.now() - context.began
    traffic.end(context.tally ?? traffic.unknown, response.status, milliseconds, context.failure?.name)
    if (this.#accessLevel !== undefined) this.#log(this.#accessLevel, context, response, milliseconds)
    return response
  }

  /** Logs the operation instead of path and query, which may contain ids, logins and codes. */
  #log(level: 'info' | 'debug', context: RequestContext, { status }: Response, milliseconds: number): void {
    const { method, failure, caller } = context
    const ms = Math.round(milliseconds * 100) / 100
    this.#options.services.log[level](
      {
        ...logFieldsOf(context),
        method,
        status,
        problem: failure?.name,
        ms,
        client: caller?.kind,
      },
      'answered',
    )
  }

  /**
   * Whether the control API is available to this request: always on a separate listener; on one shared with the public API
   * only if the request did not come through a proxy. The response reveals nothing; the log explains what to do.
   */
  #allowsControl({ headers, path }: RequestContext, side: Side): boolean {
    if (!side.includes('control')) return false
    if (!side.includes('helix') || isFromThisMachine(headers)) return true
    const now = performance.now()
    if (path !== '/docs' && now - this.#warnedAt > WARNING_MILLISECONDS) {
      this.#warnedAt = now
      this.#options.services.log.warn(
        'a control API request came through a proxy or with a public host name and was answered with 404: set STRAND_OPERATOR_LISTEN to serve the control API on a separate listener',
      )
    }
    return false
  }

  /** Paths outside the families. Monitors may use HEAD: the runtime then omits the body. */
  #answerOutside(context: RequestContext, side: Side): MaybePromise<Response> {
    const { version, isReady, staleSeconds, traffic, services } = this.#options
    context.tally = traffic.others
    const mode = services.strict ? { strict: true } : {}
    const reply = (status: number, answer: object) =>
      responseHeadersOf(undefined).respond(status, JSON.stringify(answer), context)
    switch (asksToSee(context.method) && context.path) {
      case '/healthz':
        return reply(200, { status: 'ok', ...mode })
      case '/readyz':
        return isReady().then(ready => {
          const stale_seconds = Math.round(staleSeconds() * 10) / 10
          return ready
            ? reply(200, { status: 'ready', stale_seconds, ...mode })
            : reply(503, { status: 'not ready', stale_seconds })
        })
      case '/openapi.json':
        return this.#answerOpenapi(context, side)
      case '/docs':
        return this.#answerDocs(context, side)
      case '/metrics':
        return this.#allowsControl(context, side)
          ? this.#answerMetrics(context)
          : this.#answerNotFound(context)
      case '/':
        return reply(200, {
          name: 'Strand',
          version,
          helix: '/helix',
          oauth: '/oauth2',
          reference: '/openapi.json',
          docs: '/docs',
          ...mode,
        })
      default:
        return side.includes('oauth') && this.#options.pages.leads(context)
          ? this.#answerNoPage(context)
          : this.#answerNotFound(context)
    }
  }

  /** A person gets a page that leads on, a program the error of the API. */
  #answerNoPage(context: RequestContext): Promise<Response> {
    context.tally = this.#options.traffic.unknown
    const failure = problem('route_unknown')
    context.failure = failure
    return this.#options.pages.refuse(context, failure)
  }

  /** The document of the public API; on the operator listener, of all families (D-170). */
  #answerOpenapi(context: RequestContext, side: Side): Response {
    const { openapi } = this.#options
    const isPublic = side.includes('helix')
    const text = isPublic ? openapi.public() : openapi.whole()
    const response = responseHeadersOf(undefined).respond(200, text, context)
    if (isPublic) response.headers.set('Access-Control-Allow-Origin', '*')
    return response
  }

  #answerDocs(context: RequestContext, side: Side): Promise<Response> {
    const { pages, traffic } = this.#options
    context.tally = traffic.pages
    const families = this.#allowsControl(context, side) ? side : side.filter(family => family !== 'control')
    return pages.answerDocs(context, families).catch(thrown => this.#answerFailedPage(context, thrown))
  }

  async #answerMetrics(context: RequestContext): Promise<Response> {
    const response = responseHeadersOf(undefined).respond(200, await this.#options.metrics(), context)
    response.headers.set('Content-Type', EXPOSITION_TYPE)
    return response
  }

  /** Without a token and without a point (D-95). Errors have the form and the CORS headers of the API. */
  #answerImage(context: RequestContext): MaybePromise<Response> {
    context.family = 'helix'
    if (!asksToSee(context.method)) return this.#answerNotFound(context)
    const { images, thumbnails, traffic } = this.#options
    context.tally = traffic.images
    const cached = thumbnails === undefined ? answerFromCache(images, context) : undefined
    if (cached !== undefined) return cached
    const name = readImagePath(context.path) ?? this.#answerNotFound(context)
    if (isRefusal(name)) throw new Problem(name)
    return thumbnails === undefined
      ? answerImage(images, name, context)
      : this.#answerThumbnail(name, thumbnails, context)
  }

  /** The thumbnail of a broadcast, or the drawn picture. */
  async #answerThumbnail(
    name: ImageName,
    thumbnails: Thumbnails,
    context: RequestContext,
  ): Promise<Response> {
    const { images, recordings, services } = this.#options
    if (!mayHaveThumbnail(name)) return answerImage(images, name, context)
    const sources = { thumbnails, recordings, services }
    const thumbnail = await answerThumbnail(name, sources, context)
    if (thumbnail !== undefined) return thumbnail
    const drawn = await answerImage(images, name, context)
    drawn.headers.set('Cache-Control', cacheControlOf(name))
    drawn.headers.set('Vary', 'Sec-Fetch-Site')
    return drawn
  }

  /** A broadcast, for everyone and without a point. Errors have the form of the API. */
  #answerLive(context: RequestContext): MaybePromise<Response> {
    context.family = 'helix'
    context.allowance = fullBucket(Date.now())
    const { liveChannels, services, traffic } = this.#options
    context.tally = traffic.broadcasts
    if (context.method === 'OPTIONS') return answerMediaPreflight(context)
    const login = asksToSee(context.method) ? loginOf(context.path) : undefined
    if (login === undefined) return this.#answerNotFound(context)
    return answerLive(login, liveChannels, services, context)
  }

  #answerRecording(context: RequestContext, video_id: string): MaybePromise<Response> {
    context.family = 'helix'
    context.allowance = fullBucket(Date.now())
    const { recordings, services, traffic } = this.#options
    context.tally = traffic.broadcasts
    if (context.method === 'OPTIONS') return answerMediaPreflight(context)
    if (!asksToSee(context.method)) return this.#answerNotFound(context)
    return answerRecording(video_id, recordings, services, context)
  }

  async #answerAsset(context: RequestContext): Promise<Response> {
    context.tally = this.#options.traffic.pages
    return (asksToSee(context.method) && (await answerAsset(context))) || this.#answerNotFound(context)
  }

  #answerSocket(context: RequestContext, peer: Peer): Response {
    context.family = 'helix'
    context.allowance = fullBucket(Date.now())
    const { eventSockets, traffic } = this.#options
    context.tally = traffic.sockets
    return answerSocket(eventSockets, context, request => peer.upgrade(request))
  }

  #answerCallback(context: RequestContext): Promise<Response> {
    context.tally = this.#options.traffic.callbacks
    return answerCallback(this.#options.callbacks, context)
  }

  #answerNotFound(context: RequestContext): never {
    context.tally = this.#options.traffic.unknown
    return raise('route_unknown')
  }

  /** An unknown path costs a point like every response, but is reported as unknown even if the bucket is empty. */
  #answerUnknownRoute(context: RequestContext, family: Family): MaybePromise<Response> {
    if (context.method === 'OPTIONS' && family !== 'control')
      return preflightHeaders.respond(204, null, context)
    if (family !== 'helix') return raise('route_unknown')
    const { services, limiter } = this.#options
    const takePoint = (resolution: Resolution) =>
      chain(limiter.take(resolution === 'invalid' ? ANONYMOUS : resolution, context.address), allowance => {
        context.allowance = allowance
        throw new Problem(explainUnknownRoute(context.method, context.path))
      })
    const resolved = resolveCaller(services.callers, context.authorization, services.clock)
    return resolved instanceof Promise
      ? resolved.then(takePoint, () => takePoint('invalid'))
      : takePoint(resolved)
  }
}

/** All paths of an operation, one for each prefix of its family. Subscriptions are also at the root (D-1). */
function pathsOf({ path }: { readonly path: string }): string[] {
  const family = familyOf({ path })
  const [, , rest = ''] = /^(\/[^/]+\/)(.*)$/.exec(path) ?? []
  const paths = PREFIXES.filter(([prefix, of]) => of === family && prefix !== EVENTSUB).map(
    ([prefix]) => prefix + rest,
  )
  return `/${rest}`.startsWith(EVENTSUB) ? [...paths, `/${rest}`] : paths
}

/** The family of a path. `/helix` itself belongs to its family, though it has no operation. */
function familyAt(path: string): Family | undefined {
  return PREFIXES.find(([prefix]) => path.startsWith(prefix) || path === prefix.slice(0, -1))?.[1]
}

function errorResponse(context: RequestContext, failure: Problem): Response {
  const { family } = context
  const body = failureBody(family, failure, context.operation)
  const response = responseHeadersOf(family).respond(failure.status, body, context)
  // Bodies are fixed by the wire; clients ignore a header that they do not know (D-160).
  response.headers.set('Strand-Error', failure.name)
  for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value)
  return response
}

/** The response while the store is being opened: alive, not ready. A person gets a page that waits. */
export function answerBeforeReady(request: Request): Response {
  const context = new RequestContext(request, NO_ORIGIN)
  if (context.path === '/healthz')
    return responseHeadersOf(undefined).respond(200, '{"status":"ok"}', context)
  context.family = familyAt(context.path)
  const isPage = context.family === undefined && context.path !== '/readyz'
  if (isPage && asksForPage(request)) return answerStarting()
  if (context.family === 'helix') context.allowance = fullBucket(Date.now())
  return errorResponse(context, problem('unavailable'))
}
