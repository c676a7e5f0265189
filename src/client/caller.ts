import { isRepeatable, pause, waitAfter } from './attempts.ts'
import type { Call } from './call.ts'
import { checkCallOptions } from './check-options.ts'
import { noAnswer, notJson, type ReceivedResponse, toStrandError } from './failures.ts'
import type { ClientOptions } from './options.ts'
import { type Input, type PackedRequest, packInput } from './request.ts'
import { toResponseInfo } from './response-info.ts'
import type { CallOptions } from './signatures.ts'
import { StrandError } from './strand-error.ts'
import { TokenSource } from './token-source.ts'

/** One call, over all of its attempts. */
interface Sending {
  readonly call: Call
  readonly packed: PackedRequest
  readonly options: CallOptions
  /** The idempotency key. */
  readonly key: string | undefined
  readonly base: string
  readonly tokens: TokenSource
  /** The number of this attempt, from 1. */
  attempt: number
  token: string | undefined
}

/** Errors of a token that another one may cure. A scope that is missing stays missing. */
const RENEWED_AFTER: ReadonlySet<string> = new Set([
  'token_missing',
  'token_invalid',
  'missing_authorization',
  'invalid_access_token',
  'operator_required',
  'operator_invalid',
])

/** Sends calls, renews rejected tokens, and retries where that is safe. */
export class Caller {
  readonly #options: ClientOptions
  readonly #tokens: Readonly<Record<Call['credential'], TokenSource>>

  constructor(options: ClientOptions) {
    this.#options = options
    this.#tokens = {
      none: new TokenSource(undefined),
      token: new TokenSource(options.token),
      operatorToken: new TokenSource(options.operatorToken),
    }
  }

  async send(call: Call, input: Input, options: CallOptions = {}): Promise<unknown> {
    checkCallOptions(call.id, options)
    const sending = await this.#prepare(call, input, options)
    const repeatable = isRepeatable(call, sending.key !== undefined, options.repeatable ?? false)
    let hasRenewed = false
    for (let retry = 0; ; sending.attempt++) {
      const received = await this.#attempt(sending)
      if (!(received instanceof StrandError)) return received.answer
      const canRenew = !hasRenewed && (await this.#renew(sending, received))
      const waitSeconds = canRenew ? 0 : waitAfter(received, { retry, repeatable, policy: this.#policy })
      if (waitSeconds === undefined) throw received
      this.#options.onRetry?.({
        operation: call.id,
        attempt: sending.attempt,
        error: received,
        waitSeconds,
      })
      if (canRenew) hasRenewed = true
      else {
        retry += 1
        await pause(waitSeconds, options.signal)
        sending.token = await sending.tokens.current()
      }
    }
  }

  get #policy() {
    const { retries = 3, longestWaitSeconds = 60 } = this.#options
    return { retries, longestWaitSeconds }
  }

  async #prepare(call: Call, input: Input, options: CallOptions): Promise<Sending> {
    const { credential } = call
    const packed = packInput(call, input)
    const isOverridden = options.token !== undefined && credential !== 'none'
    const tokens = isOverridden ? new TokenSource(options.token) : this.#tokens[credential]
    const { operatorUrl, baseUrl } = this.#options
    return {
      call,
      packed,
      options,
      key: call.idempotent ? (options.idempotencyKey ?? randomKey()) : undefined,
      base: (credential === 'operatorToken' && operatorUrl) || baseUrl,
      tokens,
      attempt: 1,
      token: await tokens.current(),
    }
  }

  /** One attempt: the answer, or the error. Throws if the caller aborted, or if a hook threw. */
  async #attempt(sending: Sending): Promise<{ readonly answer: unknown } | StrandError> {
    const { call, packed, base, attempt } = sending
    const { id: operation, method } = call
    const url = base.replace(/\/+$/, '') + packed.path
    const headers = this.#requestHeaders(sending)
    await this.#options.onRequest?.({ operation, method, url, headers, attempt })
    const startedAt = performance.now()
    const received = await this.#exchange(url, headers, sending)
    if (received instanceof StrandError) return received
    this.#options.onResponse?.({
      ...toResponseInfo(received.response),
      operation,
      method,
      url,
      attempt,
      milliseconds: performance.now() - startedAt,
    })
    return received.response.ok ? answerIn(call, received) : toStrandError(call, received, base)
  }

  /** A complete response, or the error that there was none. */
  async #exchange(
    url: string,
    headers: Headers,
    { call, packed: { body }, base, options: { signal } }: Sending,
  ): Promise<ReceivedResponse | StrandError> {
    const { fetch: send = fetch, timeoutSeconds = 30 } = this.#options
    const limit = AbortSignal.timeout(timeoutSeconds * 1000)
    try {
      const response = await send(url, {
        method: call.method,
        headers,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        // The API never redirects, and a token must not be sent to another host.
        redirect: 'error',
        ...(body !== undefined && { body }),
      })
      return { response, text: await response.text() }
    } catch (cause) {
      signal?.throwIfAborted()
      return noAnswer(call, cause, base)
    }
  }

  #requestHeaders({ call, packed, key, token }: Sending): Headers {
    const headers = new Headers()
    const { clientId } = this.#options
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
    if (clientId !== undefined && call.credential === 'token') headers.set('Client-Id', clientId)
    if (packed.body !== undefined) headers.set('Content-Type', 'application/json')
    if (key !== undefined) headers.set('Idempotency-Key', key)
    return headers
  }

  /** Whether the call has another token after this error. */
  async #renew(sending: Sending, { status, code }: StrandError): Promise<boolean> {
    if (status !== 401 || sending.token === undefined) return false
    // Without a code the answer is not from Strand, or from an older one.
    if (code !== undefined && !RENEWED_AFTER.has(code)) return false
    const renewed = await sending.tokens.renew(sending.token)
    if (renewed !== undefined) sending.token = renewed
    return renewed !== undefined
  }
}

function answerIn(call: Call, received: ReceivedResponse): { readonly answer: unknown } | StrandError {
  if (call.answer === 'nothing' || received.response.status === 204) return { answer: undefined }
  const isFile = received.response.headers.get('content-type')?.startsWith('text/csv')
  if (call.answer === 'text' || isFile) return { answer: received.text }
  try {
    const answer: unknown = JSON.parse(received.text)
    if (typeof answer === 'object' && answer !== null)
      Object.defineProperty(answer, 'response', { value: toResponseInfo(received.response) })
    return { answer }
  } catch (cause) {
    return notJson(call, received, cause)
  }
}

/** `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
