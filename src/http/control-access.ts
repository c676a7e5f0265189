import type { Log } from '../kit/telemetry/log.ts'
import { isFromThisMachine } from './exposure.ts'
import type { RequestContext } from './request-context.ts'

/** Minimum time between warnings about control API requests from outside. */
const WARNING_MILLISECONDS = 60_000

/**
 * Decides whether the control API is available to a request: always on a separate listener; on one shared with the public
 * API only if the request did not come through a proxy. The response reveals nothing; the log explains what to do.
 */
export class ControlAccess {
  readonly #log: Log
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(log: Log) {
    this.#log = log
  }

  allows({ headers, path, served }: RequestContext): boolean {
    if (!served.includes('control')) return false
    if (!served.includes('helix') || isFromThisMachine(headers)) return true
    const now = performance.now()
    if (path !== '/docs' && now - this.#warnedAt > WARNING_MILLISECONDS) {
      this.#warnedAt = now
      this.#log.warn(
        'a control API request came through a proxy or with a public host name and was answered with 404: set STRAND_OPERATOR_LISTEN to serve the control API on a separate listener',
      )
    }
    return false
  }
}
