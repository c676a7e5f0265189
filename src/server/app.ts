/**
 * The composition root: opens everything in order, and the lifetime closes it in reverse.
 *
 *     store and secrets -> services -> media, events -> metrics, background jobs -> pages, request handler
 */
import { onRefusedHash } from '../auth/password-hash.ts'
import { formatUrl } from '../config/config.ts'
import type { DataFolder } from '../config/data-folder.ts'
import { VERSION } from '../config/version.ts'
import { operations } from '../contract/index.ts'
import { openapiDocument, PUBLIC_FAMILIES } from '../contract/reference/openapi.ts'
import { EventSockets } from '../events/sockets/event-sockets.ts'
import { Cursors } from '../http/endpoint/cursor.ts'
import { LeasedLimiter } from '../http/limits/leased-limiter.ts'
import { LocalLimiter } from '../http/limits/rate-limit.ts'
import { RequestQueue } from '../http/limits/request-queue.ts'
import { RequestMetrics } from '../http/request-metrics.ts'
import { Application } from '../http/server.ts'
import { Images } from '../images/images.ts'
import { lazy } from '../kit/lazy.ts'
import { type Lifetime, repeatedly } from '../kit/lifetime.ts'
import type { Measured } from '../kit/telemetry/metrics.ts'
import { StoreReport } from '../maintenance/store-report.ts'
import { TrustedClock } from '../maintenance/trusted-clock.ts'
import type { Services } from '../operations/implement.ts'
import { implementations } from '../operations/index.ts'
import { MetricsHistory } from '../site/console/history.ts'
import type { Store } from '../store/store.ts'
import type { AppEnvironment, AppOptions } from './app-options.ts'
import { AVAILABILITY_MILLISECONDS, startBackgroundJobs } from './background-jobs.ts'
import { MetricsExporter } from './metrics.ts'
import { type Media, openMedia } from './open-media.ts'
import { openSite } from './open-site.ts'
import { openStoreWithKeys } from './open-store.ts'
import { type CreatedServices, createServices, isStoreShared } from './services.ts'

const READY_MILLISECONDS = 1000

/** The store, the services and the request handler. */
export interface App {
  readonly application: Application
  readonly services: Services
  readonly operatorToken: string
  /** The port of the embedded media server, if it is on. */
  readonly rtmpPort: number | undefined
  /** Disconnects publishers, who can reconnect to another node, and ends the responses to viewers. */
  endBroadcasts(): void
  readonly eventSockets: EventSockets
  /** Applies changes written by other processes; this also runs four times a second. */
  catchUp(): Promise<void>
}

/** What the parts of an app are opened on. */
interface Core extends AppOptions, AppEnvironment, CreatedServices {
  readonly store: Store
  readonly folder: DataFolder
  readonly lifetime: Lifetime
}

/** Opens the store, then the services on top of it, then the request handler. The lifetime closes all of them. */
export async function createApp(
  options: AppOptions,
  lifetime: Lifetime,
  environment: AppEnvironment,
): Promise<App> {
  requireEveryOperation()
  const { store, folder } = await openStore(options, lifetime, environment)
  const publicUrl = options.config.publicUrl ?? environment.url ?? formatUrl(options.config.listen)
  const created = createServices({ ...options, publicUrl }, store, folder)
  const core: Core = { ...options, ...environment, ...created, store, folder, lifetime }
  const { services, follower } = created
  await options.prepare?.(services)
  // Either way, a store that cannot be read is reported here, before the first request.
  await (core.role === 'command' ? store.feed.head() : follower.catchUp())

  const media = await openMedia(core, lifetime)
  follower.onChange(change => {
    if (change.kind === 'suspended') media.liveChannels.removeUser(change.user_id)
  })
  const events = await openEvents(core)
  const requests = createRequestServices(core)
  const measured = [...Object.values(requests), ...media.measured, ...events.measured]
  const { metrics, history } = await openMetrics(core, media, measured)
  const application = openHttp(core, { media, eventSockets: events.sockets, requests, metrics, history })
  return {
    application,
    services,
    operatorToken: folder.operatorToken,
    rtmpPort: media.embedded?.port,
    eventSockets: events.sockets,
    endBroadcasts: () => {
      media.embedded?.stop()
      media.liveChannels.endAll()
    },
    catchUp: () => follower.catchUp(),
  }
}

function requireEveryOperation(): void {
  const implemented = new Set(implementations.map(each => each.operation))
  const missing = operations.filter(operation => !implemented.has(operation))
  if (missing.length > 0) throw new Error(`no implementation of ${missing.map(each => each.id).join(', ')}`)
}

async function openStore(
  { config, log, actor }: AppOptions,
  lifetime: Lifetime,
  { role, storeWait }: AppEnvironment,
): Promise<{ store: Store; folder: DataFolder }> {
  const { store, folder } = await openStoreWithKeys(config, {
    log,
    report: line => log.info(line),
    writesRarely: role === 'command',
    ...(storeWait && { wait: storeWait }),
  })
  lifetime.onClose(() => store.close())
  return { store: actor === undefined ? store : recordingAs(store, actor), folder }
}

/** The same store with a fixed actor for the audit log. */
function recordingAs(store: Store, actor: string): Store {
  return { ...store, as: author => store.as({ ...author, actor }) }
}

/** WebSockets, and for a server the webhooks. */
async function openEvents({ config, log, role, store, folder, services, lifetime }: Core) {
  const sockets = new EventSockets({
    store,
    ring: folder.ring,
    log,
    publicUrl: services.publicUrl,
    most: role === 'server' ? config.eventSockets : 0,
    faults: services.demo?.faults,
  })
  lifetime.onClose(() => sockets.stop())
  if (role === 'command') return { sockets, measured: [sockets] }
  const { openWebhooks } = await import('../events/open-webhooks.ts')
  return { sockets, measured: [sockets, openWebhooks(services, config, lifetime)] }
}

/** What all requests share. */
function createRequestServices({ config, log, store, lifetime }: Core) {
  const queue = new RequestQueue(log)
  lifetime.onClose(() => queue.stop())
  return {
    requestMetrics: new RequestMetrics(),
    queue,
    limiter: isStoreShared(store)
      ? new LeasedLimiter(config.rateLimits, store)
      : new LocalLimiter(config.rateLimits),
    images: new Images(),
  }
}

/** The metrics, and the recurring work, which they count. */
async function openMetrics(core: Core, { recordings }: Media, measured: readonly Measured[]) {
  const { config, log, role, store, services, follower, folder, lifetime } = core
  const trustedClock = new TrustedClock({
    store,
    clock: services.clock,
    log,
    settlingMilliseconds: config.clockSettlingHours * 3_600_000,
  })
  const report = new StoreReport(store)
  if (role === 'server') await report.refresh()
  const { limits, directory, callers, heartbeats, watchTime } = services
  const own = [limits, store, report, follower, directory, callers, heartbeats, watchTime, trustedClock]
  const metrics = new MetricsExporter({
    engine: store.engine,
    dataFolder: config.dataFolder,
    services: [...own, ...measured, ...(core.metrics === undefined ? [] : [core.metrics])],
    gather: core.gatherMetrics,
  })
  lifetime.onClose(() => metrics.stop())
  onRefusedHash(violation =>
    log.warn(
      { violation },
      'password not checked: the stored hash exceeds the limits; set a new one with strand user password',
    ),
  )
  const history = new MetricsHistory(() => metrics.families())
  startBackgroundJobs(lifetime, {
    config,
    log,
    services,
    follower,
    folder,
    metrics,
    trustedClock,
    report,
    history,
    recordings,
    role,
    isDraining: () => core.isDraining(),
  })
  return { metrics, history }
}

interface HttpParts {
  readonly media: Media
  readonly eventSockets: EventSockets
  readonly requests: ReturnType<typeof createRequestServices>
  readonly metrics: MetricsExporter
  readonly history: MetricsHistory
}

/** The pages and the request handler, each of which calls the other. */
function openHttp(core: Core, { media, eventSockets, requests, metrics, history }: HttpParts): Application {
  const { config, log, store, services, folder, follower, lifetime } = core
  const controlUrl =
    core.operatorUrl ??
    (config.operatorListen === undefined ? services.publicUrl : formatUrl(config.operatorListen))
  const pages = openSite({
    ...core,
    controlUrl,
    rtmpPort: media.embedded?.port,
    bucketUrls: media.bucket?.urls ?? [],
    history,
    application: () => application,
  })
  const application: Application = new Application({
    ...media,
    ...requests,
    services,
    implementations,
    pages,
    eventSockets,
    cursors: new Cursors(folder.ring),
    metrics: () => metrics.text(),
    operatorToken: folder.operatorToken,
    checkReplies: core.checkReplies ?? false,
    importBytes: config.importBytes,
    trustedProxies: config.trustedProxies,
    openapi: openapiTexts(core, controlUrl),
    version: VERSION,
    accessLog: config.accessLog,
    isReady: async () =>
      !core.isDraining() &&
      services.directory.isComplete &&
      store.unavailableReason() === undefined &&
      (await answersInTime(store)),
    staleSeconds: () => (performance.now() - follower.inStepAt) / 1000,
  })
  const recovery = repeatedly(
    AVAILABILITY_MILLISECONDS,
    () => application.logRecovery(() => answersInTime(store)),
    error => log.warn({ error: String(error) }, 'store health check failed'),
  )
  lifetime.onClose(() => recovery.stop())
  return application
}

/** The OpenAPI documents, written when they are first asked for. */
function openapiTexts({ config, services }: Core, controlUrl: string) {
  const server = {
    version: VERSION,
    serverUrl: services.publicUrl,
    demo: services.demo !== undefined,
    strict: config.strict,
  }
  return {
    public: lazy(() => JSON.stringify(openapiDocument({ ...server, families: PUBLIC_FAMILIES }))),
    whole: lazy(() => JSON.stringify(openapiDocument({ ...server, controlUrl }))),
  }
}

async function answersInTime(store: Store): Promise<boolean> {
  const asked = store.feed.head().then(
    () => true,
    () => false,
  )
  // On a stalled event loop both are due at once: the extra millisecond lets a response that has arrived win.
  const isLate = Bun.sleep(READY_MILLISECONDS)
    .then(() => Bun.sleep(1))
    .then(() => false)
  return Promise.race([asked, isLate])
}
