import { isRepeatable, pause, type RetryPolicy, waitAfter } from './attempts.ts'
import type { Call } from './calls.ts'
import type { ClientOptions } from './options.ts'
import { type Input, type PackedRequest, packInput } from './request.ts'
import type { CallOptions } from './signatures.ts'
import { errorOf, noAnswer, type ReceivedResponse, StrandError } from './strand-error.ts'

/** Sends calls and retries them where that is safe. */
export class Caller {
  readonly #options: ClientOptions
  readonly #maxWait: RetryPolicy

  constructor(options: ClientOptions) {
    this.#options = options
    this.#maxWait = {
      retries: options.retries ?? 3,
      longestWaitSeconds: options.longestWaitSeconds ?? 60,
    }
  }

  async send(call: Call, input: Input, options: CallOptions = {}): Promise<unknown> {
    const packed = packInput(call, input)
    const key = call.idempotent ? (options.idempotencyKey ?? randomKey()) : undefined
    const repeatable = isRepeatable(call, key !== undefined, options.repeatable ?? false)
    for (let attempt = 0; ; attempt++) {
      const received = await this.#attempt(call, packed, key, options)
      if (!(received instanceof StrandError) && received.response.ok) return answerIn(call, received)
      const response = received instanceof StrandError ? undefined : received.response
      const seconds = waitAfter(response, { attempt, repeatable, maxWait: this.#maxWait })
      if (seconds === undefined)
        throw received instanceof StrandError ? received : errorOf(call, received, this.#baseOf(call))
      await pause(seconds, options.signal)
    }
  }

  /** One attempt: a complete response, or the error that there was none. Throws if the caller aborted. */
  async #attempt(
    call: Call,
    { path, body }: PackedRequest,
    key: string | undefined,
    options: CallOptions,
  ): Promise<ReceivedResponse | StrandError> {
    const send = this.#options.fetch ?? fetch
    const base = this.#baseOf(call)
    const limit = AbortSignal.timeout((this.#options.timeoutSeconds ?? 30) * 1000)
    const headers = {
      ...(await this.#credentials(call, options)),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    }
    try {
      const response = await send(base.replace(/\/+$/, '') + path, {
        method: call.method,
        headers,
        signal: options.signal === undefined ? limit : AbortSignal.any([options.signal, limit]),
        // The API never redirects, and a token must not be sent to another host.
        redirect: 'error',
        ...(body !== undefined && { body }),
      })
      return { response, text: await response.text() }
    } catch (cause) {
      options.signal?.throwIfAborted()
      return noAnswer(call, cause, base)
    }
  }

  #baseOf({ credential }: Call): string {
    return (credential === 'operatorToken' && this.#options.operatorUrl) || this.#options.baseUrl
  }

  async #credentials({ credential }: Call, given: CallOptions): Promise<Record<string, string>> {
    if (credential === 'none') return {}
    const source = given.token ?? this.#options[credential]
    const { clientId } = this.#options
    const value = typeof source === 'function' ? await source() : source
    return {
      ...(value !== undefined && { Authorization: `Bearer ${value}` }),
      ...(clientId !== undefined && credential === 'token' && { 'Client-Id': clientId }),
    }
  }
}

function answerIn(call: Call, { response, text }: ReceivedResponse): unknown {
  if (call.answer === 'nothing') return undefined
  if (call.answer === 'text') return text
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = `${call.id}: the response with status ${response.status} is not JSON.`
    const { status } = response
    throw new StrandError({ status, error: 'Bad Answer', message, operation: call.id }, cause)
  }
}

/** `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
