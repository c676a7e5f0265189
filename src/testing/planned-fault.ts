import type { FaultOutcome } from '../contract/resources/fault.ts'
import type { OperationName } from './operation-names.ts'

/** A fault to inject: in calls of an operation, or in the write of one entitlement. */
export interface PlannedFault {
  readonly operation: OperationName
  /**
   * `unavailable` is 503, `rate_limited` 429, `internal_error` 500, `bad_gateway` 502 with a page of HTML, `token_invalid`
   * 401. `slow` delays the call. `connection_reset` ends the connection before anything happens; `answer_lost` does so when
   * the call has taken effect; `broken_json` cuts the answer short. `update_failed` is the status of an entitlement.
   */
  readonly outcome: FaultOutcome
  /** With `update_failed`: the entitlement whose update fails; default: any. */
  readonly entitlement_id?: string
  /** Only calls with these parameters or fields of the body; of a list, one entry has to match. */
  readonly where?: Readonly<Record<string, string | number | boolean>>
  /** With `slow`: the delay; default: 5000. */
  readonly milliseconds?: number
  /** With `unavailable` and `rate_limited`: the seconds of `Retry-After`; default: 1. */
  readonly retry_after?: number
  /** Number of calls that succeed before: 2 makes the third fail; default: 0. */
  readonly skip?: number
  /** Number of calls that fail; default: 1. */
  readonly times?: number
  /** The share of calls that fail, until `times` have; default: 1. */
  readonly probability?: number
  /** With `probability`: the same seed chooses the same calls; default: 0. */
  readonly seed?: number
}
