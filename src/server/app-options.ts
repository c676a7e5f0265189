import type { Config } from '../config/config.ts'
import type { Log } from '../kit/telemetry/log.ts'
import type { Measured } from '../kit/telemetry/metrics.ts'
import type { DemoControls } from '../operations/demo/demo-controls.ts'
import type { Services } from '../operations/implement.ts'
import type { GatherMetrics } from './metrics.ts'
import type { StoreWait } from './open-store.ts'

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

/**
 * A `server` receives video, delivers events, and takes turns sweeping the store. A `command` answers a few requests and
 * ends: it loads the directory, and starts the writer, for the first request that needs them.
 */
export type Role = 'server' | 'command'

/** What the app needs to know about the process and its listeners. */
export interface AppEnvironment {
  readonly role: Role
  readonly url?: string | undefined
  readonly operatorUrl?: string | undefined
  isDraining(): boolean
  /** How long to wait for the store; default: do not wait. */
  readonly storeWait?: StoreWait
  readonly metrics?: Measured
}
