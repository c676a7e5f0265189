import type { Operation } from '../contract/operation.ts'

/**
 * When a call is made again. The rule behind it: nothing is done twice that was meant once.
 *
 * - 429: the server has refused to look at the call, so any call may be repeated, when there is a point for it again.
 * - 503, or no answer: the outcome of a write is unknown. Only what can be repeated without harm is: reads, PUT (which
 *   says how a thing shall be), and whatever carries an idempotency key or the caller's word.
 * - Anything else is an answer, and another attempt would get the same.
 */
export interface RetryPolicy {
  /** How often a call is repeated at most. */
  readonly retries: number
  /** If the server asks for a longer wait, the call fails at once instead. */
  readonly longestWaitSeconds: number
}

export function isRepeatable(operation: Operation, hasKey: boolean, isDeclaredRepeatable: boolean): boolean {
  return isDeclaredRepeatable || hasKey || operation.method === 'GET' || operation.method === 'PUT'
}

/** As much of an answer as is looked at. */
type Answered = Pick<Response, 'status' | 'headers'>

/** How long to wait before the next attempt, in seconds; undefined: there is none. */
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

/** What the server asks for: `Retry-After` in seconds, or the moment at which the bucket is full again. */
function askedWait(response: Answered | undefined): number | undefined {
  const after = numberIn(response, 'retry-after')
  if (after !== undefined) return after
  const reset = response?.status === 429 ? numberIn(response, 'ratelimit-reset') : undefined
  // A clock that is ahead of the server's must not turn waiting into hammering.
  return reset === undefined ? undefined : Math.max(1, reset - Date.now() / 1000)
}

function numberIn(response: Answered | undefined, header: string): number | undefined {
  const text = response?.headers.get(header) ?? ''
  return /^[0-9]{1,12}$/.test(text) ? Number(text) : undefined
}

/** A quarter of a second, doubled each time, and spread so that many clients do not come back at once. */
function backoff(attempt: number): number {
  return 0.25 * 2 ** attempt * (0.5 + Math.random())
}

/** Waits, unless the caller does not want to any more. */
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
