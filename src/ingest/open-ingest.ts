import type { StreamKeys } from '../auth/stream-keys.ts'
import { uuid } from '../kit/id.ts'
import type { Lifetime } from '../kit/lifetime.ts'
import { repeaterOf } from '../kit/telemetry/log-outages.ts'
import { IngestHooks } from './hooks.ts'
import { MayPublish } from './may-publish.ts'
import { MediaServers } from './media-servers.ts'
import { Reconciler } from './reconcile.ts'
import type { SessionContext } from './sessions.ts'
import { ViewerSessions } from './viewer-sessions.ts'

const RECONCILE_MILLISECONDS = 5000
const TICK_MILLISECONDS = 1000
/** A publisher should be gone within a second, and its media server needs some of it. */
const DISCONNECT_MILLISECONDS = 500

/** Connects the configured media servers: their callbacks, and the reconciler unless the process is short-lived. */
export function openIngest(
  services: SessionContext & { readonly streamKeys: StreamKeys },
  options: { readonly reconciles: boolean; readonly graceSeconds: number },
  lifetime: Lifetime,
): IngestHooks {
  const { log } = services
  const servers = new MediaServers(services)
  const viewers = new ViewerSessions()
  const shared = { ...services, servers, viewers }
  const reconciler = new Reconciler({ ...shared, graceSeconds: options.graceSeconds, holder: uuid() })
  const hooks = new IngestHooks({ ...shared, reconciler, mayPublish: new MayPublish(services) })
  if (!options.reconciles) return hooks
  const every = repeaterOf(lifetime, log)
  every(TICK_MILLISECONDS, () => servers.refresh(), 'reading the media servers failed')
  every(TICK_MILLISECONDS, () => reconciler.openPending(), 'opening publish sessions failed')
  every(DISCONNECT_MILLISECONDS, () => reconciler.disconnectDismissed(), 'disconnecting publishers failed')
  every(
    RECONCILE_MILLISECONDS,
    () => reconciler.reconcileAll(),
    'comparing media servers with the store failed',
  )
  return hooks
}
