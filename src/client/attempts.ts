import type { Call } from './call.ts'
import { wholeNumber } from './response-info.ts'
import type { StrandError } from './strand-error.ts'

/**
 * When a call is retried. The rule: no write happens twice that was requested once.
 *
 * - 429: the server has not executed the call, so any call may be retried once the rate limit allows it.
 * - 500, 502, 503, 504, a success that was cut off, or no answer: the outcome of a write is unknown. Only idempotent calls
 *   are retried: reads, PUT, updates of entitlements, calls with an idempotency key, and calls that the caller declares
 *   repeatable.
 * - Any other status is final: another attempt would get the same answer. So are the two cases of 429 that do not pass with
 *   time.
 */
export interface RetryPolicy {
  /** Maximum number of retries per call. */
  readonly retries: number
  /** A call fails immediately if the server asks for a longer wait. */
  readonly longestWaitSeconds: number
}

const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([0, 200, 500, 502, 503, 504])
const LASTING: ReadonlySet<string> = new Set(['subscription_cost_exceeded', 'too_many_subscriptions'])

export function isRepeatable(call: Call, hasKey: boolean, isDeclaredRepeatable: boolean): boolean {
  return isDeclaredRepeatable || hasKey || call.repeatable || call.method === 'GET' || call.method === 'PUT'
}

/** Seconds to wait before the next attempt; undefined: do not retry. */
export function waitAfter(
  failure: StrandError,
  { retry, repeatable, policy }: { retry: number; repeatable: boolean; policy: RetryPolicy },
): number | undefined {
  const { status, code, headers } = failure
  if (retry >= policy.retries) return undefined
  const isBusy = status === 429 && !(code !== undefined && LASTING.has(code))
  if (!isBusy && !(UNKNOWN_OUTCOME.has(status) && repeatable)) return undefined
  const asked = headers === undefined ? undefined : askedWait(status, headers)
  const seconds = Math.max(asked ?? 0, backoff(retry))
  return seconds <= policy.longestWaitSeconds ? seconds : undefined
}

/**
 * The wait that the server asks for: `Retry-After`, or the time until the bucket is full again. Times are compared with the
 * `Date` of the response: the clock of this machine may be wrong, or may be that of a test.
 */
function askedWait(status: number, headers: Headers): number | undefined {
  const seconds = wholeNumber(headers, 'retry-after')
  if (seconds !== undefined) return seconds
  const now = Date.parse(headers.get('date') ?? '') / 1000
  const until = Date.parse(headers.get('retry-after') ?? '') / 1000
  const reset = status === 429 ? wholeNumber(headers, 'ratelimit-reset') : undefined
  const at = Number.isNaN(until) ? reset : until
  if (at === undefined) return undefined
  // Without a date there is nothing to compare with.
  return Number.isNaN(now) ? 1 : Math.max(1, at - now)
}

/** A quarter of a second, doubled each time, with jitter. */
function backoff(retry: number): number {
  return 0.25 * 2 ** retry * (0.5 + Math.random())
}

/** Sleeps; rejects when the signal aborts. */
export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1000)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
