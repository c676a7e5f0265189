import { hostname } from 'node:os'
import type { StreamKeys } from '../auth/stream-keys.ts'
import { uuid } from '../kit/id.ts'
import type { Lifetime } from '../kit/lifetime.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { repeaterOf } from '../kit/telemetry/log-outages.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Recordings } from '../media/recording/recordings.ts'
import { RtmpServer } from '../media/rtmp-server.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import { Conflict, Unavailable } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import { EmbeddedIngest, REPORT_MILLISECONDS } from './embedded.ts'
import { MayPublish } from './may-publish.ts'

const PENDING_MILLISECONDS = 1000
const DISCONNECT_MILLISECONDS = 500

export interface EmbeddedMediaOptions {
  readonly listen: { readonly host: string; readonly port: number }
  /** Whether any other port will do if this one is in use. */
  readonly orAnyPort?: boolean
  readonly services: {
    readonly store: Store
    readonly streamKeys: StreamKeys
    readonly clock: Clock
    readonly log: Log
    readonly mediaUrl: string | undefined
  }
  readonly channels: LiveChannels
  readonly recordings: Recordings | undefined
  readonly thumbnails: Thumbnails | undefined
  /** Whether this is the address of a proxy, through which many publishers come. */
  isProxy(address: string): boolean
}

export interface EmbeddedMedia {
  readonly port: number
  /** Disconnects publishers and accepts no more, so that encoders reconnect to another node. */
  stop(): void
}

/** Opens the embedded media server; the lifetime closes it. */
export async function openEmbeddedMedia(
  { listen, orAnyPort = false, services, channels, recordings, thumbnails, isProxy }: EmbeddedMediaOptions,
  lifetime: Lifetime,
): Promise<EmbeddedMedia> {
  const { store, log, mediaUrl } = services
  const isShared = store.engine === 'postgres'
  const ingest = new EmbeddedIngest({
    ...services,
    mayPublish: new MayPublish(services),
    channels,
    recordings,
    thumbnails,
    // On any port, another node of this host may have the same settings.
    node: isShared ? (mediaUrl ?? `${hostname()}:${listen.port || uuid()}`) : 'local',
    watchUrl: (isShared && mediaUrl) || null,
  })
  await ingest.closeStaleSessions().catch(error => {
    if (!(error instanceof Unavailable || error instanceof Conflict)) throw error
    log.warn({ error: error.message }, 'ending earlier publish sessions failed; trying again')
  })
  lifetime.onClose(() => ingest.settle())
  const server = listenOrExplain({ ...listen, hostname: listen.host, ingest, log, isProxy }, orAnyPort)
  lifetime.onClose(() => server.stop())
  const every = repeaterOf(lifetime, log)
  every(PENDING_MILLISECONDS, () => ingest.closeStaleSessions(), 'ending earlier publish sessions failed')
  every(PENDING_MILLISECONDS, () => ingest.catchUp(), 'reporting earlier publish sessions failed')
  every(PENDING_MILLISECONDS, () => ingest.closeRecordings(), 'closing recordings failed')
  every(REPORT_MILLISECONDS, () => ingest.report(), 'reporting publish sessions failed')
  every(DISCONNECT_MILLISECONDS, () => ingest.disconnectEnded(), 'disconnecting publishers failed')
  return { port: server.port, stop: () => server.stop() }
}

function listenOrExplain(
  options: ConstructorParameters<typeof RtmpServer>[0],
  orAnyPort: boolean,
): RtmpServer {
  try {
    return new RtmpServer(options)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === 'EADDRINUSE' && orAnyPort) return listenOrExplain({ ...options, port: 0 }, false)
    const why = code === 'EADDRINUSE' ? 'the port is in use' : message
    throw new OperatorError(
      `cannot listen for RTMP on ${options.hostname}:${options.port}: ${why}; set STRAND_RTMP_LISTEN to another address`,
    )
  }
}
