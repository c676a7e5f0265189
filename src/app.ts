import {
  type AttemptLimits,
  type Attempts,
  LOGIN_LIMITS,
  LocalAttempts,
  SECRET_LIMITS,
  SharedAttempts,
  SIGN_UP_LIMITS,
} from './auth/attempts.ts'
import { Callers } from './auth/callers.ts'
import { OAuthLimits } from './auth/oauth-limits.ts'
import { onRefusedHash } from './auth/password-hash.ts'
import { SigningKeys } from './auth/signing-keys.ts'
import { StreamKeys } from './auth/stream-keys.ts'
import { type Config, urlOf } from './config.ts'
import { operations } from './contract/index.ts'
import { type DataFolder, KEYS_FOLLOWED_MILLISECONDS } from './data-folder.ts'
import { Directory } from './directory/directory.ts'
import { Followings } from './directory/followings.ts'
import { History } from './directory/history.ts'
import { Showing } from './directory/showing.ts'
import { Cursors } from './http/cursor.ts'
import { LeasedLimiter } from './http/leased-limiter.ts'
import { LocalLimiter } from './http/rate-limit.ts'
import { Application, type Peer } from './http/server.ts'
import { Traffic } from './http/traffic.ts'
import { systemClock } from './kit/clock.ts'
import { uuid } from './kit/id.ts'
import { lazily } from './kit/lazily.ts'
import { Lifetime, repeatedly } from './kit/lifetime.ts'
import type { Log } from './kit/log.ts'
import type { Measured } from './kit/metrics.ts'
import { OperatorError } from './kit/operator-error.ts'
import { Outage } from './kit/outage.ts'
import { SettledClock, type SweepTimes } from './maintenance/settled-clock.ts'
import { StoreReport } from './maintenance/store-report.ts'
import { sweepExpired } from './maintenance/sweep-expired.ts'
import { type GatherMetrics, MetricsExporter } from './metrics.ts'
import { openStoreWithKeys, type StoreWait } from './open-store.ts'
import { DemoControls } from './operations/demo-controls.ts'
import type { Services } from './operations/implement.ts'
import { implementations } from './operations/index.ts'
import { KnownBrowsers } from './pages/known-browsers.ts'
import { Pages } from './pages/pages.ts'
import { REFERENCE_HEADERS, referencePages } from './reference/html.ts'
import { openapiDocument } from './reference/openapi.ts'
import { Unavailable } from './store/errors.ts'
import { FeedFollower } from './store/follower.ts'
import type { Store } from './store/store.ts'
import { VERSION } from './version.ts'

const FEED_POLL_MILLISECONDS = 250
const AVAILABILITY_MILLISECONDS = 500
const READY_MILLISECONDS = 1000
const STORE_REPORT_MILLISECONDS = 60_000

export interface AppOptions {
  readonly config: Config
  readonly log: Log
  /** Adds the levers of demo mode: clock, faults, the user_token grant. Those of another process in the same one can be shared. */
  readonly demo?: boolean | DemoControls
  /** Other processes listen on the same port, on the same store. */
  readonly sharesPort?: boolean
  /** Where others listen too: how to ask them for their figures. */
  readonly gatherMetrics?: GatherMetrics
  /** Under which name the audit log has what operators do here; by whose token they came, if left out. */
  readonly actor?: string
  /** Holds every answer against its declaration; tests do. */
  readonly checkReplies?: boolean
  /** Whether it was asked to stop while it starts. */
  isStopping?(): boolean
  /** Runs when the store is open and before anybody is served. */
  prepare?(services: Services): Promise<void>
}

/** What is known of the doors while the house is opened. */
export interface Listeners {
  readonly url: string | undefined
  readonly operatorUrl: string | undefined
  isDraining(): boolean
  /** Whether it stays open long enough to sweep the store in turns. */
  readonly sweeps: boolean
  /** How long to wait for the store; not at all if left out. */
  readonly storeWait?: StoreWait
  /** What the listeners have counted. */
  readonly listeners?: Measured
}

/** Everything behind the doors: the store, the rooms, and what answers requests. */
export interface App {
  readonly application: Application
  readonly services: Services
  readonly operatorToken: string
  /** Applies what other processes have written; that happens four times a second by itself. */
  catchUp(): Promise<void>
}

/** Opens the store, then the rooms that live on it, then what answers requests. All of it is closed with the lifetime. */
export async function createApp(options: AppOptions, lifetime: Lifetime, listeners: Listeners): Promise<App> {
  requireEveryOperation()
  const { store: opened, folder } = await openStoreWithKeys(options.config, {
    log: options.log,
    report: line => options.log.info(line),
    ...(listeners.storeWait && { wait: listeners.storeWait }),
  })
  lifetime.onClose(() => opened.close())
  const store = options.actor === undefined ? opened : recordingAs(opened, options.actor)
  const { services, follower } = createServices(options, store, folder, listeners)
  await options.prepare?.(services)
  await follower.catchUp()

  const traffic = new Traffic()
  const limiter = hasCompany(options, store)
    ? new LeasedLimiter(options.config.rateLimits, store)
    : new LocalLimiter(options.config.rateLimits)
  const settledClock = new SettledClock({
    store,
    clock: services.clock,
    log: options.log,
    settlingMilliseconds: options.config.clockSettlingHours * 3_600_000,
  })
  const report = new StoreReport(store)
  if (listeners.sweeps) await report.refresh()
  const metrics = new MetricsExporter({
    engine: store.engine,
    dataFolder: options.config.dataFolder,
    services: [
      traffic,
      limiter,
      services.limits,
      store,
      report,
      follower,
      services.directory,
      services.callers,
      settledClock,
      ...(listeners.listeners === undefined ? [] : [listeners.listeners]),
    ],
    gather: options.gatherMetrics,
  })
  lifetime.onClose(() => metrics.stop())
  onRefusedHash(violation =>
    options.log.warn(
      { violation },
      'a password was not checked, because the stored hash is over the limits: give its user another with strand user password',
    ),
  )
  startBackgroundJobs(options, lifetime, {
    services,
    follower,
    folder,
    metrics,
    settledClock,
    report,
    listeners,
  })

  const { config } = options
  const { publicUrl } = services
  const application = new Application({
    services,
    implementations,
    pages: new Pages(
      {
        ...services,
        signUp: config.signUp,
        signUpsPerDay: config.signUpsPerDay,
        consentKeys: () => folder.ring.deriveAll('device-consent'),
        logIns: attemptsOn(options, store, LOGIN_LIMITS),
        signUps: attemptsOn(options, store, SIGN_UP_LIMITS),
        knownBrowsers: new KnownBrowsers(folder.ring),
      },
      folder.ring,
    ),
    cursors: new Cursors(folder.ring),
    limiter,
    traffic,
    metrics: () => metrics.text(),
    operatorToken: folder.operatorToken,
    checkReplies: options.checkReplies ?? false,
    importBytes: config.importBytes,
    trustedProxies: config.trustedProxies,
    openapi: lazily(() => JSON.stringify(openapiDocument({ version: VERSION, serverUrl: publicUrl }))),
    docs: referencePages({
      version: VERSION,
      demo: services.demo !== undefined,
      baseUrlOf: family => (family === 'control' ? controlUrlOf(config, listeners, publicUrl) : publicUrl),
    }),
    docsHeaders: REFERENCE_HEADERS,
    version: VERSION,
    accessLog: config.accessLog,
    isReady: async () =>
      !listeners.isDraining() && store.unavailableReason() === undefined && (await answersInTime(store)),
    staleSeconds: () => (performance.now() - follower.inStepAt) / 1000,
  })
  const recovery = repeatedly(
    AVAILABILITY_MILLISECONDS,
    () => application.logRecovery(() => answersInTime(store)),
    error => options.log.warn({ error: String(error) }, 'the state of the store could not be looked at'),
  )
  lifetime.onClose(() => recovery.stop())
  return { application, services, operatorToken: folder.operatorToken, catchUp: () => follower.catchUp() }
}

/** The same store; whoever asks it to record something is recorded under this name. */
function recordingAs(store: Store, actor: string): Store {
  return { ...store, as: author => store.as({ ...author, actor }) }
}

function requireEveryOperation(): void {
  const implemented = new Set(implementations.map(each => each.operation))
  const missing = operations.filter(operation => !implemented.has(operation))
  if (missing.length > 0) throw new Error(`no implementation of ${missing.map(each => each.id).join(', ')}`)
}

/** Whoever may have company on the store shares limits with it. */
function hasCompany({ sharesPort = false }: AppOptions, store: Store): boolean {
  return store.engine === 'postgres' || sharesPort
}

function attemptsOn(options: AppOptions, store: Store, limits: AttemptLimits): Attempts {
  return hasCompany(options, store) ? new SharedAttempts(limits, store) : new LocalAttempts(limits)
}

/** The rooms, and who keeps what they hold in memory in step with the store. */
function createServices(options: AppOptions, store: Store, folder: DataFolder, listeners: Listeners) {
  const { config, log } = options
  const publicUrl = config.publicUrl ?? listeners.url ?? urlOf(config.listen)
  const demo = options.demo === true ? new DemoControls() : options.demo || undefined
  const isShared = hasCompany(options, store)
  const directory = new Directory({ publicUrl, ...(isShared && { inTouchAt: () => follower.inStepAt }) })
  const followings = new Followings(store, directory)
  const callers = new Callers(store)
  const audiences = [new Showing(store, directory), followings, callers]
  const follower: FeedFollower = new FeedFollower(store, audiences, log)
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
    limits: new OAuthLimits(config.oauthRates),
    attempts: attemptsOn(options, store, SECRET_LIMITS),
    lifetimes: config.lifetimes,
    publicUrl,
    spoolFolder: config.spoolFolder,
    log,
    ...(demo && { demo }),
  }
  return { services, follower }
}

interface BackgroundJobs {
  readonly services: Services
  readonly follower: FeedFollower
  readonly folder: DataFolder
  readonly metrics: MetricsExporter
  readonly settledClock: SettledClock
  readonly report: StoreReport
  readonly listeners: Listeners
}

/** What is done again and again: reading the feed and the master keys, and sweeping the store if it is our turn. */
function startBackgroundJobs({ config, log }: AppOptions, lifetime: Lifetime, parts: BackgroundJobs): void {
  const { services, follower, folder, metrics, settledClock, report, listeners } = parts
  const every = (milliseconds: number, work: () => Promise<void>, failure: string) => {
    const turns = repeatedly(milliseconds, loggingOutages(work, log, failure), error =>
      log.warn({ error: String(error) }, failure),
    )
    lifetime.onClose(() => turns.stop())
  }
  const followMasterKeys = async () => {
    if (folder.followMasterKeys()) log.info({ key_ids: folder.ring.ids }, 'the master keys were changed')
  }
  const turn = { name: 'sweep', holder: uuid(), seconds: 2 * config.sweepSeconds }
  const sweepInTurn = async () => {
    if (!(await services.store.commands.takeTurn(turn))) return
    await metrics.sweeps.during(async removed => {
      await sweepExpired(services.store, await sweepTimes(services, settledClock), config.keep, {
        removed,
        wantsToStop: listeners.isDraining,
      })
    })
  }
  every(
    AVAILABILITY_MILLISECONDS,
    logAvailability(services.store, log),
    'the state of the store could not be looked at',
  )
  every(FEED_POLL_MILLISECONDS, () => follower.catchUp(), 'the feed could not be read')
  every(KEYS_FOLLOWED_MILLISECONDS, followMasterKeys, 'the master keys could not be read')
  if (listeners.sweeps)
    every(STORE_REPORT_MILLISECONDS, () => report.refresh(), 'the size of the store could not be read')
  if (listeners.sweeps) every(config.sweepSeconds * 1000, sweepInTurn, 'the store could not be swept')
}

/** The clock of a demo is moved on purpose, and believed. */
async function sweepTimes({ clock, demo }: Services, settledClock: SettledClock): Promise<SweepTimes> {
  return demo === undefined ? settledClock.look() : { now: Date.now(), settled: clock.now() }
}

function controlUrlOf({ operatorListen }: Config, { operatorUrl }: Listeners, publicUrl: string): string {
  return operatorUrl ?? (operatorListen === undefined ? publicUrl : urlOf(operatorListen))
}

/** The same work; while it fails turn after turn, not every turn is a line. */
function loggingOutages(work: () => Promise<void>, log: Log, failure: string): () => Promise<void> {
  const outage = new Outage()
  return async () => {
    try {
      await work()
    } catch (error) {
      const report = outage.fail(performance.now())
      if (report !== undefined)
        log.warn({ error: String(error), failures: report.failures, seconds: report.seconds }, failure)
      return
    }
    const ended = outage.end(performance.now())
    if (ended !== undefined)
      log.info({ failures: ended.failures, seconds: ended.seconds }, `${failure}; it works again`)
  }
}

/** Logs when the store stops accepting writes, with the reason, and when it accepts them again. */
function logAvailability(store: Store, log: Log): () => Promise<void> {
  let logged: string | undefined
  return async () => {
    const reason = store.unavailableReason()
    if (reason === logged) return
    logged = reason
    if (reason === undefined) log.info('the store accepts writes again')
    else log.error({ reason }, 'the store does not accept writes; they are answered 503')
  }
}

async function answersInTime(store: Store): Promise<boolean> {
  const asked = store.feed.head().then(
    () => true,
    () => false,
  )
  // A process that is late with everything has not looked yet whether the answer is there when its time is up.
  const isLate = Bun.sleep(READY_MILLISECONDS)
    .then(() => Bun.sleep(1))
    .then(() => false)
  return Promise.race([asked, isLate])
}

/** The same house without doors: nobody listens, and requests are answered inside this process. */
export interface LocalApp {
  readonly operatorToken: string
  answer(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Who asks from inside this process. */
const LOCAL_PEER: Peer = { address: () => '', holdOpen: () => undefined }

/** For the command line, which works on a store whether or not a server runs on it. */
export async function openLocalApp(options: AppOptions): Promise<LocalApp> {
  const lifetime = new Lifetime()
  try {
    const noListeners: Listeners = {
      url: undefined,
      operatorUrl: undefined,
      isDraining: () => false,
      // How long things are kept is the server's to know.
      sweeps: false,
    }
    const { application, operatorToken } = await createApp(options, lifetime, noListeners)
    return {
      operatorToken,
      answer: async request => application.handle(request, LOCAL_PEER, ['helix', 'oauth', 'control']),
      close: () => lifetime.close(),
    }
  } catch (error) {
    // What fails to close failed for the same reason, and the first to say so says it best.
    await lifetime.close().catch(() => undefined)
    throw error instanceof Unavailable
      ? new OperatorError(
          `the store cannot be read: ${error.message}; strand verify and strand doctor tell more`,
        )
      : error
  }
}
