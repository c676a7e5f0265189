import type { Call } from './calls.ts'

/**
 * When a call is retried. The rule: no write happens twice that was requested once.
 *
 * - 429: the server has not executed the call, so any call may be retried once the rate limit allows it.
 * - 503, or no answer: the outcome of a write is unknown. Only idempotent calls are retried: reads, PUT, calls with an
 *   idempotency key, and calls that the caller declares repeatable.
 * - Any other status is final: another attempt would get the same answer.
 */
export interface RetryPolicy {
  /** Maximum number of retries per call. */
  readonly retries: number
  /** A call fails immediately if the server asks for a longer wait. */
  readonly longestWaitSeconds: number
}

export function isRepeatable(call: Call, hasKey: boolean, isDeclaredRepeatable: boolean): boolean {
  return isDeclaredRepeatable || hasKey || call.method === 'GET' || call.method === 'PUT'
}

type Answered = Pick<Response, 'status' | 'headers'>

/** Seconds to wait before the next attempt; undefined: do not retry. */
export function waitAfter(
  response: Answered | undefined,
  { attempt, repeatable, maxWait }: { attempt: number; repeatable: boolean; maxWait: RetryPolicy },
): number | undefined {
  if (attempt >= maxWait.retries) return undefined
  const status = response?.status
  if (status !== 429 && !((status === 503 || status === undefined) && repeatable)) return undefined
  const seconds = Math.max(askedWait(response) ?? 0, backoff(attempt))
  return seconds <= maxWait.longestWaitSeconds ? seconds : undefined
}

/** The wait that the server asks for: `Retry-After`, or the time until the bucket is full again. */
function askedWait(response: Answered | undefined): number | undefined {
  const after = numberIn(response, 'retry-after')
  if (after !== undefined) return after
  const reset = response?.status === 429 ? numberIn(response, 'ratelimit-reset') : undefined
  // A local clock ahead of the server's must not lead to a busy loop.
  return reset === undefined ? undefined : Math.max(1, reset - Date.now() / 1000)
}

function numberIn(response: Answered | undefined, header: string): number | undefined {
  const text = response?.headers.get(header) ?? ''
  return /^[0-9]{1,12}$/.test(text) ? Number(text) : undefined
}

/** A quarter of a second, doubled each time, with jitter. */
function backoff(attempt: number): number {
  return 0.25 * 2 ** attempt * (0.5 + Math.random())
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
