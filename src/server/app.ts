import { join } from 'node:path'
import {
  type AttemptLimits,
  type Attempts,
  LOGIN_LIMITS,
  LocalAttempts,
  SECRET_LIMITS,
  SharedAttempts,
  SIGN_UP_LIMITS,
} from '../auth/attempts.ts'
import { Callers } from '../auth/callers.ts'
import { EventSecrets } from '../auth/event-secrets.ts'
import { OAuthLimits } from '../auth/oauth-limits.ts'
import { OperatorSessions } from '../auth/operator-sessions.ts'
import { onRefusedHash } from '../auth/password-hash.ts'
import { PlaybackSessions } from '../auth/playback-sessions.ts'
import { SigningKeys } from '../auth/signing-keys.ts'
import { SiteTokens } from '../auth/site-tokens.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import { operations } from '../contract/index.ts'
import { openapiDocument, PUBLIC_FAMILIES } from '../contract/reference/openapi.ts'
import { Directory } from '../directory/directory.ts'
import { Followings } from '../directory/followings.ts'
import { Heartbeats } from '../directory/heartbeats.ts'
import { History } from '../directory/history.ts'
import { StreamFeedSubscriber } from '../directory/stream-feed-subscriber.ts'
import { EventSockets } from '../events/event-sockets.ts'
import { Cursors } from '../http/cursor.ts'
import { LeasedLimiter } from '../http/leased-limiter.ts'
import { LocalLimiter } from '../http/rate-limit.ts'
import { NO_PEER } from '../http/request-context.ts'
import { RequestQueue } from '../http/request-queue.ts'
import { Application } from '../http/server.ts'
import { Traffic } from '../http/traffic.ts'
import { Images } from '../images/images.ts'
import { openEmbeddedMedia } from '../ingest/open-embedded.ts'
import { openIngest } from '../ingest/open-ingest.ts'
import { systemClock } from '../kit/clock.ts'
import { lazily } from '../kit/lazily.ts'
import { Lifetime, repeatedly } from '../kit/lifetime.ts'
import type { Log } from '../kit/log.ts'
import type { Measured } from '../kit/metrics.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { Proofs } from '../kit/signed-text.ts'
import { examine } from '../maintenance/doctor.ts'
import { foldMissingNames } from '../maintenance/fold-names.ts'
import { SettledClock } from '../maintenance/settled-clock.ts'
import { StoreReport } from '../maintenance/store-report.ts'
import { LiveChannels } from '../media/live-channels.ts'
import { Recordings } from '../media/recordings.ts'
import { Thumbnails } from '../media/thumbnails.ts'
import { DemoControls } from '../operations/demo-controls.ts'
import type { Services } from '../operations/implement.ts'
import { implementations } from '../operations/index.ts'
import { MetricsHistory } from '../site/console/history.ts'
import { referenceOf } from '../site/docs.ts'
import { KnownBrowsers } from '../site/known-browsers.ts'
import { Pages } from '../site/pages.ts'
import { Unavailable } from '../store/errors.ts'
import { FeedFollower } from '../store/follower.ts'
import type { Store } from '../store/store.ts'
import { AVAILABILITY_MILLISECONDS, startBackgroundJobs } from './background-jobs.ts'
import { type Config, urlOf } from './config.ts'
import type { DataFolder } from './data-folder.ts'
import { type GatherMetrics, MetricsExporter } from './metrics.ts'
import { openStoreWithKeys, type StoreWait } from './open-store.ts'
import { VERSION } from './version.ts'

const READY_MILLISECONDS = 1000
/** The port that encoders use if an address has none. */
const RTMP_PORT = 1935

export interface AppOptions {
  readonly config: Config
  readonly log: Log
  /** Enables demo mode: movable clock, planned faults, the user_token grant. Several servers in one process can share them. */
  readonly demo?: boolean | DemoControls
  /** Other processes serve the same store on the same port. */
  readonly sharesPort?: boolean
  /** With several processes: how to collect the metrics of the others. */
  readonly gatherMetrics?: GatherMetrics
  /** The actor in the audit log; default: the operator whose token was used. */
  readonly actor?: string
  /** Validates every response against its declaration; used by tests. */
  readonly checkReplies?: boolean
  /** Whether a stop was requested during startup. */
  isStopping?(): boolean
  /** Runs when the store is open, before the first request is served. */
  prepare?(services: Services): Promise<void>
}

/** What the app needs to know about its listeners. */
export interface Listeners {
  readonly url: string | undefined
  readonly operatorUrl: string | undefined
  isDraining(): boolean
  /** Whether this process takes turns sweeping the store; short-lived ones do not. */
  readonly sweeps: boolean
  /** Whether a few requests are all: the directory is loaded, and the writer started, for the first that needs it. */
  readonly isShortLived?: boolean
  /** How long to wait for the store; default: do not wait. */
  readonly storeWait?: StoreWait
  readonly metrics?: Measured
}

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

/** Opens the store, then the services on top of it, then the request handler. The lifetime closes all of them. */
export async function createApp(options: AppOptions, lifetime: Lifetime, listeners: Listeners): Promise<App> {
  requireEveryOperation()
  const { store: opened, folder } = await openStoreWithKeys(options.config, {
    log: options.log,
    report: line => options.log.info(line),
    writesRarely: listeners.isShortLived ?? false,
    ...(listeners.storeWait && { wait: listeners.storeWait }),
  })
  lifetime.onClose(() => opened.close())
  const store = options.actor === undefined ? opened : recordingAs(opened, options.actor)
  if (listeners.sweeps && store.unavailableReason() === undefined)
    await foldMissingNames(store, () => options.isStopping?.() ?? false).catch(error => {
      if (!(error instanceof Unavailable)) throw error
      options.log.warn({ error: String(error) }, 'folding names failed; the next sweep tries again')
    })
  const { services, follower, siteTokens } = createServices(options, store, folder, listeners)
  await options.prepare?.(services)
  // Either way, a store that cannot be read is reported here, before the first request.
  await (listeners.isShortLived ? store.feed.head() : follower.catchUp())

  const liveChannels = new LiveChannels()
  const recordings = options.config.record
    ? new Recordings(
        join(options.config.dataFolder, 'recordings'),
        options.config.recordMebibytes * 1024 * 1024,
      )
    : undefined
  const thumbnails =
    listeners.sweeps && options.config.thumbnails ? openThumbnails(options, lifetime) : undefined
  const media =
    listeners.sweeps && options.config.rtmpListen !== undefined
      ? await openEmbeddedMedia(
          {
            listen: options.config.rtmpListen,
            services,
            channels: liveChannels,
            recordings,
            thumbnails,
            isProxy: address => options.config.trustedProxies.has(address),
          },
          lifetime,
        )
      : undefined
  const callbacks = openIngest(
    services,
    { reconciles: listeners.sweeps, graceSeconds: options.config.reconnectGraceSeconds },
    lifetime,
  )
  const eventSockets = new EventSockets({
    store,
    ring: folder.ring,
    log: options.log,
    publicUrl: services.publicUrl,
    most: listeners.sweeps ? options.config.eventSockets : 0,
    faults: services.demo?.faults,
  })
  lifetime.onClose(() => eventSockets.stop())
  const webhooks = listeners.sweeps
    ? (await import('../events/open-webhooks.ts')).openWebhooks(services, options.config, lifetime)
    : undefined
  const traffic = new Traffic()
  const queue = new RequestQueue(options.log)
  lifetime.onClose(() => queue.stop())
  const limiter = isStoreShared(store)
    ? new LeasedLimiter(options.config.rateLimits, store)
    : new LocalLimiter(options.config.rateLimits)
  const settledClock = new SettledClock({
    store,
    clock: services.clock,
    log: options.log,
    settlingMilliseconds: options.config.clockSettlingHours * 3_600_000,
  })
  const images = new Images()
  const report = new StoreReport(store)
  if (listeners.sweeps) await report.refresh()
  const metrics = new MetricsExporter({
    engine: store.engine,
    dataFolder: options.config.dataFolder,
    services: [
      traffic,
      queue,
      limiter,
      services.limits,
      store,
      report,
      follower,
      services.directory,
      services.callers,
      services.heartbeats,
      settledClock,
      images,
      liveChannels,
      ...(thumbnails === undefined ? [] : [thumbnails]),
      eventSockets,
      ...(webhooks === undefined ? [] : [webhooks]),
      ...(listeners.metrics === undefined ? [] : [listeners.metrics]),
    ],
    gather: options.gatherMetrics,
  })
  lifetime.onClose(() => metrics.stop())
  onRefusedHash(violation =>
    options.log.warn(
      { violation },
      'password not checked: the stored hash exceeds the limits; set a new one with strand user password',
    ),
  )
  const { config, log } = options
  const history = new MetricsHistory(() => metrics.families())
  startBackgroundJobs(lifetime, {
    config,
    log,
    services,
    follower,
    folder,
    metrics,
    settledClock,
    report,
    history,
    recordings,
    sweeps: listeners.sweeps,
    isDraining: () => listeners.isDraining(),
  })

  const { publicUrl } = services
  const described = {
    version: VERSION,
    serverUrl: publicUrl,
    demo: services.demo !== undefined,
    strict: config.strict,
  }
  const application: Application = new Application({
    services,
    implementations,
    pages: new Pages(
      {
        ...services,
        signUp: config.signUp,
        signUpsPerDay: config.signUpsPerDay,
        consentProofs: new Proofs(folder.ring, 'device-consent'),
        logIns: attemptsOn(store, LOGIN_LIMITS),
        signUps: attemptsOn(store, SIGN_UP_LIMITS),
        knownBrowsers: new KnownBrowsers(folder.ring),
        siteTokens,
        reference: referenceOf({
          demo: services.demo !== undefined,
          strict: config.strict,
          baseUrlOf: family =>
            family === 'control' ? controlUrlOf(config, listeners, publicUrl) : publicUrl,
        }),
        rtmpUrl: media && rtmpUrlOf(publicUrl, media.port),
        callApi: (request, address) =>
          application.handle(request, { ...NO_PEER, address: () => address }, ['helix', 'playback']),
        callControl: (request, operator, address) =>
          application.handle(request, { ...NO_PEER, address: () => address }, ['control'], operator),
        operatorSessions: new OperatorSessions({
          ring: folder.ring,
          store: opened,
          operatorToken: folder.operatorToken,
        }),
        metricsHistory: history,
        keepsAllAudit: config.keep.auditDays === 0,
        examine: () => examine(config, { isServing: true, unnamedProxy: application.unnamedProxy }),
      },
      folder.ring,
    ),
    images,
    liveChannels,
    recordings,
    thumbnails,
    callbacks,
    eventSockets,
    cursors: new Cursors(folder.ring),
    limiter,
    traffic,
    queue,
    metrics: () => metrics.text(),
    operatorToken: folder.operatorToken,
    checkReplies: options.checkReplies ?? false,
    importBytes: config.importBytes,
    trustedProxies: config.trustedProxies,
    openapi: {
      public: lazily(() => JSON.stringify(openapiDocument({ ...described, families: PUBLIC_FAMILIES }))),
      whole: lazily(() =>
        JSON.stringify(
          openapiDocument({ ...described, controlUrl: controlUrlOf(config, listeners, publicUrl) }),
        ),
      ),
    },
    version: VERSION,
    accessLog: config.accessLog,
    isReady: async () =>
      !listeners.isDraining() &&
      services.directory.isComplete &&
      store.unavailableReason() === undefined &&
      (await answersInTime(store)),
    staleSeconds: () => (performance.now() - follower.inStepAt) / 1000,
  })
  const recovery = repeatedly(
    AVAILABILITY_MILLISECONDS,
    () => application.logRecovery(() => answersInTime(store)),
    error => options.log.warn({ error: String(error) }, 'store health check failed'),
  )
  lifetime.onClose(() => recovery.stop())
  return {
    application,
    services,
    operatorToken: folder.operatorToken,
    rtmpPort: media?.port,
    eventSockets,
    endBroadcasts: () => {
      media?.stop()
      liveChannels.endAll()
    },
    catchUp: () => follower.catchUp(),
  }
}

/** Where encoders publish: on the host that people know, and on the port of this process. */
function rtmpUrlOf(publicUrl: string, port: number): string {
  return `rtmp://${new URL(publicUrl).hostname}${port === RTMP_PORT ? '' : `:${port}`}/live`
}

/** Without ffmpeg, and on nodes without a media server, it serves the thumbnails of other nodes. */
function openThumbnails({ config, log }: AppOptions, lifetime: Lifetime): Thumbnails {
  const ffmpeg = config.rtmpListen === undefined ? undefined : (Bun.which('ffmpeg') ?? undefined)
  if (config.rtmpListen !== undefined && ffmpeg === undefined)
    log.info('ffmpeg is not on the PATH: live channels show drawn pictures instead of thumbnails')
  const thumbnails = new Thumbnails({ ffmpeg, log })
  lifetime.onClose(() => thumbnails.close())
  return thumbnails
}

/** The same store with a fixed actor for the audit log. */
function recordingAs(store: Store, actor: string): Store {
  return { ...store, as: author => store.as({ ...author, actor }) }
}

function requireEveryOperation(): void {
  const implemented = new Set(implementations.map(each => each.operation))
  const missing = operations.filter(operation => !implemented.has(operation))
  if (missing.length > 0) throw new Error(`no implementation of ${missing.map(each => each.id).join(', ')}`)
}

/** Whether other processes may use the same store; limits are shared with them then. */
function isStoreShared(store: Store): boolean {
  return store.engine === 'postgres'
}

function attemptsOn(store: Store, limits: AttemptLimits): Attempts {
  return isStoreShared(store) ? new SharedAttempts(limits, store) : new LocalAttempts(limits)
}

/** The services, and the follower that keeps their in-memory state in step with the store. */
function createServices(options: AppOptions, store: Store, folder: DataFolder, listeners: Listeners) {
  const { config, log } = options
  const publicUrl = config.publicUrl ?? listeners.url ?? urlOf(config.listen)
  const demo = options.demo === true ? new DemoControls() : options.demo || undefined
  const isShared = isStoreShared(store)
  const directory = new Directory({
    publicUrl,
    ...(isShared && { inTouchAt: () => follower.inStepAt }),
    details: {
      detailsOf: user_ids => store.streams.detailsOf(user_ids),
      gamesOf: ids => store.games.withIds(ids),
      catchUp: () => follower.catchUp(),
    },
  })
  const followings = new Followings(store, directory)
  const siteTokens = new SiteTokens(folder.ring)
  const callers = new Callers(store, siteTokens)
  const subscribers = [new StreamFeedSubscriber(store, directory, { ranksFirst: true }), followings, callers]
  const follower: FeedFollower = new FeedFollower(store, subscribers, log)
  const clock = demo?.clock ?? systemClock
  const services: Services = {
    store,
    directory,
    followings,
    callers,
    history: new History(store, directory, follower),
    clock,
    streamKeys: new StreamKeys(folder.ring),
    signingKeys: new SigningKeys(store, folder.ring, clock),
    playbackSessions: new PlaybackSessions(folder.ring),
    heartbeats: new Heartbeats({ store, clock }),
    eventSecrets: new EventSecrets(folder.ring),
    eventCallbacks: demo === undefined ? config.eventCallbacks : 'any',
    limits: new OAuthLimits(config.oauthRates),
    attempts: attemptsOn(store, SECRET_LIMITS),
    lifetimes: config.lifetimes,
    publicUrl,
    mediaUrl: config.mediaUrl,
    strict: config.strict,
    spoolFolder: config.spoolFolder,
    log,
    ...(demo && { demo }),
  }
  return { services, follower, siteTokens }
}

function controlUrlOf({ operatorListen }: Config, { operatorUrl }: Listeners, publicUrl: string): string {
  return operatorUrl ?? (operatorListen === undefined ? publicUrl : urlOf(operatorListen))
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

/** An app without listeners: requests are answered inside this process. */
export interface LocalApp {
  readonly services: Services
  readonly operatorToken: string
  answer(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Operations of the control API read the store, except the list of what is live; all others read what is in memory. */
function needsMemory({ url }: Request): boolean {
  const { pathname } = new URL(url)
  return !pathname.startsWith('/control/') || pathname === '/control/streams'
}

/** For the command line, which works on a store whether or not a server is running on it. */
export async function openLocalApp(options: AppOptions): Promise<LocalApp> {
  const lifetime = new Lifetime()
  try {
    const noListeners: Listeners = {
      url: undefined,
      operatorUrl: undefined,
      isDraining: () => false,
      // Retention is a setting of the server.
      sweeps: false,
      isShortLived: true,
    }
    const { application, services, operatorToken, catchUp } = await createApp(options, lifetime, noListeners)
    return {
      services,
      operatorToken,
      answer: async request => {
        if (needsMemory(request)) await catchUp()
        return application.handle(request, NO_PEER, ['helix', 'oauth', 'playback', 'control'])
      },
      close: () => lifetime.close(),
    }
  } catch (error) {
    // An error on close has the same cause; the first one explains it best.
    await lifetime.close().catch(() => undefined)
    throw error instanceof Unavailable
      ? new OperatorError(
          `the store cannot be read: ${error.message}; run strand verify or strand doctor for details`,
        )
      : error
  }
}
