import type { Scenario } from '../client/api.ts'

export interface StrandOptions<S = Scenario> {
  /** Default: 0, for any free port. */
  readonly port?: number
  /** The same seed generates the same world; default: 42. */
  readonly seed?: number
  /** Number of live channels; default: 20. */
  readonly streams?: number
  /** The time of the clock, which is stopped unless `running` is true. Default: the system clock. */
  readonly clock?: string | Date | { readonly start: string | Date; readonly running?: boolean }
  /** A scenario, or the path of a scenario file. */
  readonly scenario?: string | S
  /** In this process, which must be Bun, or as a child process. Default: `process` under Bun, otherwise `child`. */
  readonly mode?: 'process' | 'child'
  /**
   * Refuse what the real API refuses: every call needs a token and its `Client-Id`, and more, as listed in
   * docs/compatibility.md. Default: false.
   */
  readonly strict?: boolean
  /**
   * Send calls of this process for api.twitch.tv, id.twitch.tv and eventsub.wss.twitch.tv to this server until it stops, for
   * libraries with fixed URLs. Default: true if `strand-server/intercept` is imported.
   */
  readonly intercept?: boolean
  /** Folder to keep the world in. Default: a temporary one, deleted when the server stops. */
  readonly data?: string
  /** Level of the log on standard error; default: `error`. */
  readonly log?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Settings of `strand serve`, by name. The environment is ignored; rate limits are off unless set here. */
  readonly settings?: Readonly<Record<string, string>>
  /** Milliseconds until a child process must serve; default: 30000. */
  readonly startTimeout?: number
}
