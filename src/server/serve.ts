import { type Address, formatUrl } from '../config/config.ts'
import { prepareDataFolder } from '../config/data-folder.ts'
import { PUBLIC_FAMILIES } from '../contract/reference/openapi.ts'
import type { EventSockets } from '../events/sockets/event-sockets.ts'
import type { ServedFamilies } from '../http/families.ts'
import { openHealthListener } from '../http/health-listener.ts'
import { DescriptorGuard, SheddingListener } from '../http/limits/shedding.ts'
import { type Listening, listen } from '../http/listen.ts'
import { answerBeforeReady } from '../http/responses/error-response.ts'
import type { Application } from '../http/server.ts'
import { Lifetime } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Services } from '../operations/implement.ts'
import { createApp } from './app.ts'
import type { AppOptions } from './app-options.ts'

/** A running server. */
export interface StrandServer {
  readonly url: string
  readonly controlUrl: string
  readonly operatorToken: string
  readonly services: Services
  /** The port of the embedded media server, if it is on. */
  readonly rtmpPort: number | undefined
  /** Applies changes written by other processes; this also runs four times a second. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** Starts in order; if a step fails, the steps before it are undone. */
export async function startServer(options: AppOptions): Promise<StrandServer> {
  const servers = new Lifetime()
  const app = new Lifetime()
  const stop = async () => {
    // Stop accepting requests and finish those in progress before closing the app.
    await servers.close()
    await app.close()
  }
  try {
    return await start(options, servers, app, stop)
  } catch (error) {
    await stop().catch(() => undefined)
    throw error
  }
}

async function start(
  options: AppOptions,
  servers: Lifetime,
  app: Lifetime,
  stop: () => Promise<void>,
): Promise<StrandServer> {
  const { config } = options
  let application: Application | undefined
  let eventSockets: EventSockets | undefined
  let draining = false
  const sharesPort = options.sharesPort ?? false
  const listeners: Listening[] = []
  const guard = new DescriptorGuard(options.log)
  const open = ({ host, port }: Address, served: ServedFamilies, remedy: string): string => {
    const openAt = (at: number) =>
      listenOrExplain(
        remedy,
        host,
        at,
        (request, peer) =>
          application === undefined ? answerBeforeReady(request) : application.receive(request, peer, served),
        { sharesPort, sockets: () => eventSockets },
      )
    const listening = new SheddingListener(openAt, port)
    listeners.push(listening)
    servers.onClose(() => listening.stop())
    if (served.includes('helix')) {
      guard.watch(listening)
      servers.onClose(() => guard.stop())
    }
    return formatUrl({ host, port: listening.port })
  }
  const openAll = (): { url: string; operatorUrl: string | undefined } => {
    const operatorUrl = config.operatorListen && open(config.operatorListen, ['control'], PORT_FLAGS.operator)
    const served = operatorUrl === undefined ? [...PUBLIC_FAMILIES, 'control' as const] : PUBLIC_FAMILIES
    return { url: open(config.listen, served, PORT_FLAGS.public), operatorUrl }
  }
  prepareDataFolder(config)
  // The port is opened first, so that early requests get a 503 instead of a refused connection. With other nodes on the
  // port or behind a proxy it is opened last: a proxy tries another node after a refused connection, but passes a 503 on.
  const othersAnswer = sharesPort || config.drainSeconds > 0
  const early = othersAnswer ? undefined : openAll()

  const opened = await createApp(options, app, {
    url: early?.url,
    operatorUrl: early?.operatorUrl,
    isDraining: () => draining,
    role: 'server',
    storeWait: { seconds: config.storeWaitSeconds, isStopping: () => options.isStopping?.() ?? false },
    metrics: guard,
  })
  application = opened.application
  eventSockets = opened.eventSockets
  if (othersAnswer) await opened.services.directory.complete()
  const { url, operatorUrl } = early ?? openAll()
  if (config.healthListen !== undefined) {
    const { healthListen } = config
    const isReady = () => opened.application.isReady()
    const health = await openHealthListener(healthListen, isReady).catch((error: unknown) => {
      throw listenFailure(healthListen, error, PORT_FLAGS.health)
    })
    servers.onClose(() => health.close())
  }
  return {
    url,
    controlUrl: `${operatorUrl ?? url}/control`,
    operatorToken: opened.operatorToken,
    services: opened.services,
    rtmpPort: opened.rtmpPort,
    catchUp: opened.catchUp,
    stop: async () => {
      draining = true
      for (const listening of listeners) listening.drain()
      // First, so that encoders and viewers reconnect to other nodes while this one can still redirect them.
      opened.endBroadcasts()
      await opened.eventSockets.drain()
      if (config.drainSeconds > 0) await Bun.sleep(config.drainSeconds * 1000)
      await opened.eventSockets.stop()
      await stop()
    },
  }
}

/** How to choose another port for a listener. */
export const PORT_FLAGS = {
  public: '--port (or STRAND_LISTEN)',
  operator: '--operator-listen (or STRAND_OPERATOR_LISTEN)',
  health: 'STRAND_HEALTH_LISTEN',
}

function listenOrExplain(remedy: string, ...args: Parameters<typeof listen>): Listening {
  const [host, port] = args
  try {
    return listen(...args)
  } catch (error) {
    throw listenFailure({ host, port }, error, remedy)
  }
}

export function listenFailure({ host, port }: Address, error: unknown, remedy: string): OperatorError {
  const { code, message } = error as { code?: string; message: string }
  return new OperatorError(
    code === 'EADDRINUSE'
      ? `port ${port} is in use: choose another with ${remedy}, or stop the other program`
      : `cannot listen on ${host}:${port}: ${message}`,
  )
}
