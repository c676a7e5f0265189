/**
 * The table of routes: what answers a request, by path and by what its listener serves. Operations come from the contract
 * and are looked up by method and path; all other paths are rows of one list, and the first that matches answers.
 */
import { ANONYMOUS, type Resolution, resolveCaller } from '../auth/callers.ts'
import type { Family } from '../contract/operation.ts'
import { problem, type Refusal, refuse } from '../contract/problem.ts'
import type { EventSockets } from '../events/sockets/event-sockets.ts'
import { isImagePath } from '../images/image-name.ts'
import type { Bucket } from '../media/bucket.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Implementation } from '../operations/implement.ts'
import { asksToSee, isConsolePath, type Pages } from '../site/pages.ts'
import { ControlAccess } from './control-access.ts'
import { Endpoint, type EndpointDependencies } from './endpoint/endpoint.ts'
import { explainUnknownRoute } from './endpoint/unknown-route.ts'
import { familyAt, operationPaths } from './families.ts'
import type { Need } from './limits/request-queue.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestCounter } from './request-metrics.ts'
import { answerAsset, isAssetPath } from './responses/asset-response.ts'
import { answerPicture, type PictureSources } from './responses/image-response.ts'
import { answerCallback, type CallbackHandler, isIngestPath } from './responses/ingest-response.ts'
import { answerLive, isLivePath } from './responses/live-response.ts'
import { answerRecording, isRecordingPath } from './responses/recording-response.ts'
import { preflightHeaders } from './responses/response-headers.ts'
import { answerSiteFile, isSiteFile } from './responses/site-file-response.ts'
import { answerSocket, isSocketPath } from './responses/socket-response.ts'
import {
  answerAlive,
  answerMetrics,
  answerOpenapi,
  answerReady,
  answerRoot,
  type ServerStatus,
} from './responses/status-response.ts'
import { type Match, Router } from './router.ts'

type Answer = Response | Refusal | Promise<Response | Refusal>

export interface Route {
  /** What a request needs before it is answered. Pictures and broadcasts have separate limits; operators never wait. */
  readonly need: Need
  /** The family that decides the form of errors; undefined if the path belongs to none. */
  readonly family?: Family | undefined
  /** The counters of its requests; undefined: those of unknown paths. */
  readonly counter?: RequestCounter
  /** Its errors are pages. */
  readonly isPage?: true
  readonly operation?: Endpoint['operation']
  answer(context: RequestContext, params: Readonly<Record<string, string>>): Answer
}

/** A route of one path, or of all paths that a condition accepts. */
interface Row extends Route {
  readonly path: string | ((context: RequestContext) => boolean)
  /** Only on listeners that serve this family; undefined: on all. */
  readonly on?: Family
  /** Only for GET and HEAD. Monitors may use HEAD: the runtime then omits the body. */
  readonly method?: 'GET'
}

export interface RouteOptions extends EndpointDependencies, PictureSources, ServerStatus {
  readonly implementations: readonly Implementation[]
  readonly pages: Pages
  readonly liveChannels: LiveChannels
  readonly bucket: Bucket | undefined
  readonly callbacks: CallbackHandler<unknown>
  readonly eventSockets: EventSockets
}

export class Routes {
  readonly #operations = new Router<Route>()
  readonly #rows: readonly Row[]
  readonly #control: ControlAccess

  constructor(options: RouteOptions) {
    this.#control = new ControlAccess(options.services.log)
    this.#rows = listRows(options, this.#control)
    for (const implementation of options.implementations) {
      const { operation } = implementation
      if (operation.demoOnly && options.services.demo === undefined) continue
      const route = operationRoute(new Endpoint(implementation, options))
      for (const path of operationPaths(operation)) this.#operations.add(operation.method, path, route)
    }
  }

  /** The last row matches every request. */
  find(context: RequestContext): Match<Route> {
    const found = this.#operations.find(context.method, context.path)
    if (found !== undefined && this.#isServed(found.target.family, context)) return found
    const isRead = asksToSee(context.method)
    for (const row of this.#rows) {
      const { path, on, method } = row
      if (typeof path === 'string' ? path !== context.path : !path(context)) continue
      if (method === 'GET' && !isRead) continue
      if (this.#isServed(on, context)) return { target: row, params: {} }
    }
    throw new Error(`no route for ${context.method} ${context.path}`)
  }

  #isServed(family: Family | undefined, context: RequestContext): boolean {
    if (family === undefined) return true
    return family === 'control' ? this.#control.allows(context) : context.served.includes(family)
  }
}

function operationRoute(endpoint: Endpoint): Route {
  const { family, counter, operation } = endpoint
  const readNeed = endpoint.isFromMemory ? 'thread' : 'place'
  return {
    need: family === 'control' ? 'free' : readNeed,
    family,
    counter,
    operation,
    answer: (context, params) => endpoint.answer(context, params),
  }
}

const FAMILIES: readonly Family[] = ['helix', 'drops', 'oauth', 'playback', 'control']

/** Everything that is not an operation, in the order in which it is tried. */
function listRows(options: RouteOptions, control: ControlAccess): readonly Row[] {
  const { pages, requestMetrics, services } = options
  const mode = services.strict ? ({ strict: true } as const) : {}
  const notFound = (context: RequestContext): Refusal => {
    context.counter = requestMetrics.unknown
    return refuse('route_unknown')
  }
  const at = ({ path }: RequestContext) => path
  const media = { on: 'helix', need: 'thread', family: 'helix' } as const
  const status = { method: 'GET', counter: requestMetrics.others } as const
  const page = { need: 'place', counter: requestMetrics.pages, isPage: true } as const
  return [
    {
      ...media,
      path: context => isImagePath(at(context)),
      counter: requestMetrics.images,
      answer: context => answerPicture(options, context) ?? notFound(context),
    },
    {
      path: context => isIngestPath(at(context)),
      on: 'control',
      need: 'free',
      counter: requestMetrics.callbacks,
      answer: context => answerCallback(options.callbacks, context),
    },
    {
      ...media,
      path: context => isLivePath(at(context)),
      counter: requestMetrics.broadcasts,
      answer: context => answerLive(options, context) ?? notFound(context),
    },
    {
      ...media,
      path: context => isSocketPath(at(context)),
      counter: requestMetrics.sockets,
      answer: context => answerSocket(options.eventSockets, context),
    },
    {
      ...media,
      path: context => isRecordingPath(at(context)),
      counter: requestMetrics.broadcasts,
      answer: context => answerRecording(options, context) ?? notFound(context),
    },
    {
      path: context => isAssetPath(at(context)),
      need: 'thread',
      counter: requestMetrics.pages,
      answer: async context => (await answerAsset(context)) ?? notFound(context),
    },
    {
      path: context => isSiteFile(at(context)),
      method: 'GET',
      need: 'thread',
      counter: requestMetrics.pages,
      answer: answerSiteFile,
    },
    {
      ...page,
      path: context => isConsolePath(at(context)) && pages.has(context),
      on: 'control',
      need: 'free',
      answer: context => pages.answer(context),
    },
    {
      ...page,
      path: context => !isConsolePath(at(context)) && pages.has(context),
      on: 'oauth',
      answer: context => pages.answer(context),
    },
    {
      ...status,
      path: '/control/openapi.json',
      on: 'control',
      need: 'free',
      answer: context => answerOpenapi(context, options, 'all'),
    },
    ...FAMILIES.map(
      (family): Row => ({
        path: context => familyAt(at(context)) === family,
        on: family,
        need: 'thread',
        family,
        answer: context => answerUnknownPath(options, family, context),
      }),
    ),
    { ...status, path: '/healthz', need: 'free', answer: context => answerAlive(context, mode) },
    { ...status, path: '/readyz', need: 'free', answer: context => answerReady(context, options, mode) },
    {
      ...status,
      path: '/metrics',
      need: 'free',
      answer: context => (control.allows(context) ? answerMetrics(context, options) : notFound(context)),
    },
    {
      ...status,
      path: '/openapi.json',
      need: 'thread',
      answer: context => answerOpenapi(context, options, context.served.includes('helix') ? 'public' : 'all'),
    },
    {
      ...page,
      path: '/docs',
      method: 'GET',
      need: 'thread',
      answer: context =>
        pages.answerDocs(
          context,
          control.allows(context) ? context.served : context.served.filter(family => family !== 'control'),
        ),
    },
    { ...status, path: '/', need: 'thread', answer: context => answerRoot(context, options, mode) },
    {
      // A person gets a page that leads on, a program the error of the API.
      path: context => pages.leads(context),
      on: 'oauth',
      need: 'thread',
      counter: requestMetrics.unknown,
      answer: context => {
        context.failure = problem('route_unknown')
        return pages.refuse(context, context.failure)
      },
    },
    { path: () => true, need: 'thread', counter: requestMetrics.unknown, answer: notFound },
  ]
}

/** An unknown path costs a point like every response, but is reported as unknown even if the bucket is empty. */
async function answerUnknownPath(
  { services, limiter }: RouteOptions,
  family: Family,
  context: RequestContext,
): Promise<Response | Refusal> {
  if (context.method === 'OPTIONS' && family !== 'control')
    return preflightHeaders.respond(204, null, context)
  if (family !== 'helix') return refuse('route_unknown')
  let caller: Resolution = 'invalid'
  try {
    caller = await resolveCaller(services.callers, context.authorization, services.clock)
  } catch {
    // The store is away: the caller pays as one without a token.
  }
  context.allowance = await limiter.take(caller === 'invalid' ? ANONYMOUS : caller, context.address)
  return explainUnknownRoute(context.method, context.path)
}
