import { hostname } from 'node:os'
import type { StreamKeys } from '../auth/stream-keys.ts'
import type { Clock } from '../kit/clock.ts'
import { uuid } from '../kit/id.ts'
import { type Lifetime, repeatedly } from '../kit/lifetime.ts'
import type { Log } from '../kit/log.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { LiveChannels } from '../media/live-channels.ts'
import type { Recordings } from '../media/recordings.ts'
import { RtmpServer } from '../media/rtmp-server.ts'
import type { Thumbnails } from '../media/thumbnails.ts'
import type { Store } from '../store/store.ts'
import { EmbeddedIngest, REPORT_MILLISECONDS } from './embedded.ts'
import { KeyCheck } from './key-check.ts'

const DISCONNECT_MILLISECONDS = 500

export interface EmbeddedMediaOptions {
  readonly listen: { readonly host: string; readonly port: number }
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
}

/** Opens the embedded media server; the lifetime closes it. Returns the port. */
export async function openEmbeddedMedia(
  { listen, services, channels, recordings, thumbnails }: EmbeddedMediaOptions,
  lifetime: Lifetime,
): Promise<number> {
  const { store, log, mediaUrl } = services
  const isShared = store.engine === 'postgres'
  const ingest = new EmbeddedIngest({
    ...services,
    keys: new KeyCheck(services),
    channels,
    recordings,
    thumbnails,
    // On any port, another node of this host may have the same settings.
    node: isShared ? (mediaUrl ?? `${hostname()}:${listen.port || uuid()}`) : 'local',
    watchUrl: (isShared && mediaUrl) || null,
  })
  await ingest.forgetPast()
  lifetime.onClose(() => ingest.settle())
  const server = listenOrExplain({ ...listen, hostname: listen.host, ingest, log })
  lifetime.onClose(() => server.stop())
  const reports = repeatedly(
    REPORT_MILLISECONDS,
    () => ingest.report(),
    error => log.warn({ error: String(error) }, 'reporting publish sessions failed'),
  )
  lifetime.onClose(() => reports.stop())
  const disconnects = repeatedly(
    DISCONNECT_MILLISECONDS,
    () => ingest.disconnectEnded(),
    error => log.warn({ error: String(error) }, 'disconnecting publishers failed'),
  )
  lifetime.onClose(() => disconnects.stop())
  return server.port
}

function listenOrExplain(options: ConstructorParameters<typeof RtmpServer>[0]): RtmpServer {
  try {
    return new RtmpServer(options)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const why = code === 'EADDRINUSE' ? 'the port is in use' : message
    throw new OperatorError(
      `cannot listen for RTMP on ${options.hostname}:${options.port}: ${why}; set STRAND_RTMP_LISTEN to another address`,
    )
  }
}
