import { hasBucket } from '../contract/operation.ts'
import { isRefusal, Problem, type Refusal, refuse } from '../contract/problem.ts'
import type { Caller } from '../domain/caller.ts'
import type { Networks } from '../kit/networks.ts'
import { asRequest } from '../kit/request-scope.ts'
import { asksToSee } from '../site/pages.ts'
import { ForwardedAddresses } from './client-address.ts'
import { concludeDemoRequest } from './demo-request.ts'
import { asProblem, toLogFields } from './failure.ts'
import { familyAt, type ServedFamilies } from './families.ts'
import { isWellFormedHost } from './host.ts'
import { fullBucket } from './limits/rate-limit.ts'
import { RequestDeadlines } from './limits/request-deadlines.ts'
import type { Need, RequestQueue } from './limits/request-queue.ts'
import { type Peer, RequestContext } from './request-context.ts'
import type { RequestMetrics } from './request-metrics.ts'
import { errorResponse } from './responses/error-response.ts'
import { OVERLOADED, OVERLOADED_PAGE, overloadedIn } from './responses/overload-response.ts'
import type { Match } from './router.ts'
import { type Route, type RouteOptions, Routes } from './routes.ts'
import { StoreFailures } from './store-failures.ts'

export interface ServerOptions extends RouteOptions {
  readonly queue: RequestQueue
  readonly trustedProxies: Networks
  /** Log each request at level info instead of debug. */
  readonly accessLog: boolean
}

type Found = Match<Route>

/** Rejected before authentication, like other malformed requests; under /helix with the headers of D-17. */
const malformedHost = ({ unknown: counter }: RequestMetrics): Found => ({
  target: {
    need: 'thread',
    counter,
    answer: context => {
      context.family = familyAt(context.path)
      if (hasBucket(context.family)) context.allowance = fullBucket(Date.now())
      return refuse('malformed_host')
    },
  },
  params: {},
})

/** Handles every request: finds its route, queues it, answers, counts and logs. Never throws: errors become responses. */
export class Application {
  readonly #options: ServerOptions
  readonly #routes: Routes
  readonly #malformedHost: Found
  /** The log level for requests; undefined if it is disabled. */
  readonly #accessLevel: 'info' | 'debug' | undefined
  readonly #storeFailures: StoreFailures
  readonly #forwarded: ForwardedAddresses
  readonly #deadlines = new RequestDeadlines()
  /** Whether queries have to know their request: only PostgreSQL does. */
  readonly #hasScopes: boolean
  /** The last well-formed `Host`: clients rarely change it, and comparing is cheaper than checking. */
  #knownHost = ''

  constructor(options: ServerOptions) {
    this.#options = options
    const { log, store } = options.services
    const level = options.accessLog ? 'info' : 'debug'
    this.#accessLevel = log.isLevelEnabled(level) ? level : undefined
    this.#storeFailures = new StoreFailures(log)
    this.#forwarded = new ForwardedAddresses(options.trustedProxies, log)
    this.#hasScopes = store.engine === 'postgres'
    this.#routes = new Routes(options)
    this.#malformedHost = malformedHost(options.requestMetrics)
  }

  /** A request of a listener, which waits or is refused if more arrive than this process can answer. */
  receive(request: Request, peer: Peer, served: ServedFamilies): Response | Promise<Response> {
    const context = new RequestContext(request, peer, served, this.#forwarded)
    const found = this.#find(context)
    const need = needFor(context, found.target)
    context.hasPlace = need === 'place'
    this.#options.requestMetrics.begin()
    return this.#options.queue.run(
      need,
      context.began,
      () => this.#handle(context, found),
      () => this.#answerOverload(context, found.target),
    )
  }

  /** A request from inside this process. `operator`: on whose behalf the console calls. */
  handle(
    request: Request,
    peer: Peer,
    served: ServedFamilies,
    operator?: Caller,
  ): Response | Promise<Response> {
    const context = new RequestContext(request, peer, served, this.#forwarded)
    context.operator = operator
    this.#options.requestMetrics.begin()
    return this.#handle(context, this.#find(context))
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

  #handle(context: RequestContext, found: Found): Response | Promise<Response> {
    const { demo } = this.#options.services
    const response = this.#handleSafely(context, found)
    if (demo === undefined) return response
    return response instanceof Promise
      ? response.then(known => concludeDemoRequest(demo, context, known))
      : concludeDemoRequest(demo, context, response)
  }

  /** An answer that is in memory as bytes is sent at once: a promise would cost a tenth of it. */
  #handleSafely(context: RequestContext, found: Found): Response | Promise<Response> {
    try {
      const answer = this.#hasScopes
        ? asRequest(() => this.#answer(context, found))
        : this.#answer(context, found)
      if (!(answer instanceof Promise)) return this.#conclude(context, answer)
      return this.#deadlines.limit(
        context,
        answer,
        known => this.#conclude(context, known),
        thrown => this.#fail(context, thrown),
      )
    } catch (thrown) {
      return this.#fail(context, thrown)
    }
  }

  #answer(
    context: RequestContext,
    { target, params }: Found,
  ): Response | Refusal | Promise<Response | Refusal> {
    context.family = target.family
    context.operation = target.operation
    context.counter = target.counter
    const answer = target.answer(context, params)
    return target.isPage
      ? Promise.resolve(answer).catch(thrown => this.#answerFailedPage(context, thrown))
      : answer
  }

  #find(context: RequestContext): Found {
    return this.#hasGoodHost(context) ? this.#routes.find(context) : this.#malformedHost
  }

  #hasGoodHost({ headers }: RequestContext): boolean {
    const host = headers.get('host')
    if (host === this.#knownHost) return true
    if (!isWellFormedHost(host)) return false
    this.#knownHost = host ?? ''
    return true
  }

  /** Answers with a prepared response: under overload, refusing must cost next to nothing. */
  #answerOverload(context: RequestContext, { counter, isPage }: Route): Response {
    context.hasPlace = false
    context.failure = OVERLOADED
    context.family = familyAt(context.path)
    context.counter = counter ?? this.#options.requestMetrics.others
    if (hasBucket(context.family)) context.allowance = fullBucket(Date.now())
    const { headers, body } = isPage ? OVERLOADED_PAGE : overloadedIn(context.family)
    return this.#conclude(context, headers.respond(503, body, context))
  }

  /** Answers an error with a page, unless the path is unknown. */
  #answerFailedPage(context: RequestContext, thrown: unknown): Response | Promise<Response> {
    const failure = this.#problemFor(context, thrown)
    if (failure.name !== 'route_unknown') return this.#options.pages.refuse(context, failure)
    context.counter = this.#options.requestMetrics.unknown
    return errorResponse(context, failure)
  }

  #fail(context: RequestContext, thrown: unknown): Response {
    return this.#conclude(context, errorResponse(context, this.#problemFor(context, thrown)))
  }

  /** The problem to return for a thrown value; details go to the log. */
  #problemFor(context: RequestContext, thrown: unknown): Problem {
    const { log } = this.#options.services
    const failure = asProblem(thrown, context, { log, storeFailures: this.#storeFailures })
    context.failure = failure
    return failure
  }

  /** Turns a refusal into a response, counts the response, and logs it if enabled. */
  #conclude(context: RequestContext, answer: Response | Refusal): Response {
    if (isRefusal(answer)) return this.#fail(context, new Problem(answer))
    const { requestMetrics, queue } = this.#options
    if (context.hasPlace) {
      context.hasPlace = false
      queue.leave()
    }
    const milliseconds = performance.now() - context.began
    requestMetrics.end(
      context.counter ?? requestMetrics.unknown,
      answer.status,
      milliseconds,
      context.failure?.name,
    )
    if (this.#accessLevel !== undefined) this.#log(this.#accessLevel, context, answer, milliseconds)
    return answer
  }

  /** Logs the operation instead of path and query, which may contain ids, logins and codes. */
  #log(level: 'info' | 'debug', context: RequestContext, { status }: Response, milliseconds: number): void {
    const { method, failure, caller } = context
    const ms = Math.round(milliseconds * 100) / 100
    this.#options.services.log[level](
      {
        ...toLogFields(context),
        method,
        status,
        problem: failure?.name,
        ms,
        client: caller?.kind,
      },
      'answered',
    )
  }
}

/** Only reads hold a place (`request-queue.ts`), and operators never wait. */
function needFor({ method, served }: RequestContext, { need }: Route): Need {
  if (!served.includes('helix')) return 'free'
  return need === 'place' && !asksToSee(method) ? 'thread' : need
}
