import { LocalAttempts, SharedAttempts } from './auth/attempts.ts'
import { Callers } from './auth/callers.ts'
import { StreamKeys } from './auth/stream-keys.ts'
import { keepHouse } from './care/keep-house.ts'
import type { Address, Config } from './config.ts'
import { operations } from './contract/index.ts'
import { type DataFolder, KEYS_FOLLOWED_MILLISECONDS, openDataFolder } from './data-folder.ts'
import { Directory } from './directory/directory.ts'
import { Followings } from './directory/followings.ts'
import { History } from './directory/history.ts'
import { Showing } from './directory/showing.ts'
import { Cursors } from './http/cursor.ts'
import { LeasedLimiter } from './http/leased-limiter.ts'
import { LocalLimiter } from './http/rate-limit.ts'
import {
  Application,
  answerBeforeReady,
  type Listening,
  listen,
  type Peer,
  type Side,
} from './http/server.ts'
import { Traffic } from './http/traffic.ts'
import { CannotStart } from './kit/cannot-start.ts'
import { systemClock } from './kit/clock.ts'
import { uuid } from './kit/id.ts'
import { lazily } from './kit/lazily.ts'
import { Lifetime, repeatedly } from './kit/lifetime.ts'
import type { Log } from './kit/log.ts'
import { type GatherMetrics, Metrics } from './metrics.ts'
import { openStore } from './open-store.ts'
import type { Rooms } from './operations/implement.ts'
import { implementations } from './operations/index.ts'
import { Levers } from './operations/levers.ts'
import { Pages } from './pages/pages.ts'
import { REFERENCE_HEADERS, referencePages } from './reference/html.ts'
import { openapiDocument } from './reference/openapi.ts'
import { FeedFollower } from './store/follower.ts'
import type { Store } from './store/store.ts'
import { VERSION } from './version.ts'

const FEED_POLL_MILLISECONDS = 250
const SWEEP_MILLISECONDS = 60_000
const READY_MILLISECONDS = 1000
/** Wrong passwords, secrets and codes in a quarter of an hour. */
const ATTEMPTS = { perSubject: 10, perAddress: 100, overall: 10_000 }

/** A running server. */
export interface Strand {
  readonly url: string
  readonly controlUrl: string
  readonly operatorToken: string
  readonly rooms: Rooms
  /** Applies what other processes have written; that happens four times a second by itself. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  readonly config: Config
  readonly log: Log
  /** Adds the levers of demo mode: clock, faults, the user_token grant. Those of another process in the same one can be shared. */
  readonly demo?: boolean | Levers
  /** Other processes listen on the same port, on the same store. */
  readonly sharesPort?: boolean
  /** Where others listen too: how to ask them for their figures. */
  readonly gatherMetrics?: GatherMetrics
  /** Holds every answer against its declaration; tests do. */
  readonly checkReplies?: boolean
  /** Runs when the store is open and before anybody is served. */
  prepare?(rooms: Rooms): Promise<void>
}

/** Opens everything in order; if a step fails, what was opened is closed again. */
export async function startStrand(options: StartOptions): Promise<Strand> {
  const doors = new Lifetime()
  const house = new Lifetime()
  const stop = async () => {
    // First nobody comes in any more and whoever is inside is served, then the house is closed.
    await doors.close()
    await house.close()
  }
  try {
    return await start(options, doors, house, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  options: StartOptions,
  doors: Lifetime,
  house: Lifetime,
  stop: () => Promise<void>,
): Promise<Strand> {
  const { config } = options
  let application: Application | undefined
  let draining = false
  const sharesPort = options.sharesPort ?? false
  const listeners: Listening[] = []
  const open = ({ host, port }: Address, side: Side): string => {
    const listening = listenOrSay(
      host,
      port,
      (request, peer) =>
        application === undefined ? answerBeforeReady(request) : application.handle(request, peer, side),
      { sharesPort },
    )
    listeners.push(listening)
    doors.onClose(() => listening.stop())
    return urlOf(host, listening.port)
  }
  const openAll = (): { url: string; operatorUrl: string | undefined } => {
    const operatorUrl = config.operatorListen && open(config.operatorListen, ['control'])
    const publicSide: Side = operatorUrl === undefined ? ['helix', 'oauth', 'control'] : ['helix', 'oauth']
    return { url: open(config.listen, publicSide), operatorUrl }
  }
  const folder = openDataFolder(config)
  // The port is claimed first, and whoever calls early is told to wait. Where others answer meanwhile, on a shared port or
  // behind a proxy, it is opened last: a proxy asks another node at once if it is refused, but passes a 503 on.
  const othersAnswer = sharesPort || config.drainSeconds > 0
  const early = othersAnswer ? undefined : openAll()

  const opened = await openHouse(options, house, folder, {
    url: early?.url,
    operatorUrl: early?.operatorUrl,
    isDraining: () => draining,
  })
  application = opened.application
  const { url, operatorUrl } = early ?? openAll()
  return {
    url,
    controlUrl: `${operatorUrl ?? url}/control`,
    operatorToken: folder.operatorToken,
    rooms: opened.rooms,
    catchUp: opened.catchUp,
    stop: async () => {
      draining = true
      for (const listening of listeners) listening.drain()
      if (config.drainSeconds > 0) await Bun.sleep(config.drainSeconds * 1000)
      await stop()
    },
  }
}

/** What is known of the doors while the house is opened. */
interface Outside {
  readonly url: string | undefined
  readonly operatorUrl: string | undefined
  isDraining(): boolean
}

/** Everything behind the doors: the store, the rooms, and what answers requests. */
interface House {
  readonly application: Application
  readonly rooms: Rooms
  catchUp(): Promise<void>
}

async function openHouse(
  options: StartOptions,
  house: Lifetime,
  folder: DataFolder,
  outside: Outside,
): Promise<House> {
  const { config, log, sharesPort = false } = options
  const implemented = new Set(implementations.map(each => each.operation))
  const missing = operations.filter(operation => !implemented.has(operation))
  if (missing.length > 0) throw new Error(`no implementation of ${missing.map(each => each.id).join(', ')}`)

  const store = await openStore(config)
  house.onClose(() => store.close())
  // Whoever may have company on the store shares limits with it.
  const hasCompany = store.engine === 'postgres' || sharesPort
  const publicUrl = config.publicUrl ?? outside.url ?? urlOf(config.listen.host, config.listen.port)
  const operator = config.operatorListen
  const controlBase =
    outside.operatorUrl ?? (operator === undefined ? publicUrl : urlOf(operator.host, operator.port))
  const demo = options.demo === true ? new Levers() : options.demo || undefined
  const directory = new Directory({
    publicUrl,
    ...(hasCompany && { inTouchAt: () => follower.inStepAt }),
  })
  const followings = new Followings(store, directory)
  const callers = new Callers(store)
  const follower: FeedFollower = new FeedFollower(
    store,
    [new Showing(store, directory), followings, callers],
    log,
  )
  const rooms: Rooms = {
    store,
    directory,
    followings,
    callers,
    history: new History(store, directory, follower),
    clock: demo?.clock ?? systemClock,
    streamKeys: new StreamKeys(folder.ring),
    attempts: hasCompany ? new SharedAttempts(ATTEMPTS, store) : new LocalAttempts(ATTEMPTS),
    lifetimes: config.lifetimes,
    publicUrl,
    spoolFolder: config.dataFolder,
    log,
    ...(demo && { demo }),
  }
  await options.prepare?.(rooms)

  await follower.catchUp()
  const every = (milliseconds: number, work: () => Promise<void>, failure: string) => {
    const turns = repeatedly(milliseconds, work, error => log.warn({ error: String(error) }, failure))
    house.onClose(() => turns.stop())
  }
  every(FEED_POLL_MILLISECONDS, () => follower.catchUp(), 'the feed could not be read')
  const holder = uuid()
  const traffic = new Traffic()
  const limiter = hasCompany
    ? new LeasedLimiter(config.rateLimits, store)
    : new LocalLimiter(config.rateLimits)
  const metrics = new Metrics({
    engine: store.engine,
    dataFolder: config.dataFolder,
    rooms: [traffic, limiter, store, follower, directory, callers],
    gather: options.gatherMetrics,
  })
  house.onClose(() => metrics.stop())
  const sweepInTurn = async () => {
    const turn = { name: 'sweep', holder, seconds: (2 * SWEEP_MILLISECONDS) / 1000 }
    if (!(await store.commands.takeTurn(turn))) return
    await metrics.sweeps.during(removed =>
      keepHouse(rooms, config.keep, { removed, wantsToStop: outside.isDraining }),
    )
  }
  const followMasterKeys = async () => {
    if (folder.followMasterKeys()) log.info({ key_ids: folder.ring.ids }, 'the master keys were changed')
  }
  every(KEYS_FOLLOWED_MILLISECONDS, followMasterKeys, 'the master keys could not be read')
  every(SWEEP_MILLISECONDS, sweepInTurn, 'the store could not be swept')

  const application = new Application({
    rooms,
    implementations,
    pages: new Pages({ ...rooms, signUp: config.signUp }, folder.ring),
    cursors: new Cursors(folder.ring),
    limiter,
    traffic,
    metrics: () => metrics.text(),
    operatorToken: folder.operatorToken,
    checkReplies: options.checkReplies ?? false,
    trustedProxies: config.trustedProxies,
    openapi: lazily(() => JSON.stringify(openapiDocument({ version: VERSION, serverUrl: publicUrl }))),
    docs: referencePages({
      version: VERSION,
      demo: demo !== undefined,
      baseUrlOf: family => (family === 'control' ? controlBase : publicUrl),
    }),
    docsHeaders: REFERENCE_HEADERS,
    version: VERSION,
    isReady: async () => !outside.isDraining() && (await answersInTime(store)),
    staleSeconds: () => (performance.now() - follower.inStepAt) / 1000,
  })
  return { application, rooms, catchUp: () => follower.catchUp() }
}

/** The same house without doors: nobody listens, and requests are answered inside this process. */
export interface ClosedHouse {
  readonly operatorToken: string
  answer(request: Request): Promise<Response>
  close(): Promise<void>
}

/** Who asks from inside this process. */
const NOBODY: Peer = { address: () => '', holdOpen: () => undefined }

/** For the command line, which works on a store whether or not a server runs on it. */
export async function openWithoutDoors(options: StartOptions): Promise<ClosedHouse> {
  const house = new Lifetime()
  try {
    const folder = openDataFolder(options.config)
    const { application } = await openHouse(options, house, folder, {
      url: undefined,
      operatorUrl: undefined,
      isDraining: () => false,
    })
    return {
      operatorToken: folder.operatorToken,
      answer: async request => application.handle(request, NOBODY, ['helix', 'oauth', 'control']),
      close: () => house.close(),
    }
  } catch (error) {
    await house.close()
    throw error
  }
}

function listenOrSay(...args: Parameters<typeof listen>): Listening {
  const [host, port] = args
  try {
    return listen(...args)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'EADDRINUSE') {
      throw new CannotStart(`port ${port} is in use: stop the other program or choose another port`)
    }
    throw new CannotStart(`cannot listen on ${host}:${port}: ${message}`)
  }
}

async function answersInTime(store: Store): Promise<boolean> {
  const asked = store.feed.head().then(
    () => true,
    () => false,
  )
  return Promise.race([asked, Bun.sleep(READY_MILLISECONDS).then(() => false)])
}

function urlOf(host: string, port: number): string {
  const shown = host === '127.0.0.1' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}
