import { familyOf, type Operation } from '../contract/operation.ts'
import { isRepeatable, pause, type RetryPolicy, waitAfter } from './attempts.ts'
import type { ClientOptions } from './options.ts'
import { type Input, type PackedRequest, packInput } from './request.ts'
import type { CallOptions } from './signatures.ts'
import { errorOf, noAnswer, type ReceivedResponse, StrandError } from './strand-error.ts'

/** Sends calls, and sends them again where that does no harm. */
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

  async call(operation: Operation, input: Input, options: CallOptions = {}): Promise<unknown> {
    const packed = packInput(operation, input)
    const key = operation.idempotent ? (options.idempotencyKey ?? randomKey()) : undefined
    const repeatable = isRepeatable(operation, key !== undefined, options.repeatable ?? false)
    for (let attempt = 0; ; attempt++) {
      const received = await this.#send(operation, packed, key, options)
      if (!(received instanceof StrandError) && received.response.ok) return answerIn(operation, received)
      const response = received instanceof StrandError ? undefined : received.response
      const seconds = waitAfter(response, { attempt, repeatable, maxWait: this.#maxWait })
      if (seconds === undefined)
        throw received instanceof StrandError
          ? received
          : errorOf(operation, received, this.#baseOf(operation))
      await pause(seconds, options.signal)
    }
  }

  /** One attempt: an answer with all of its text, or the error that none came. What the caller has ended is thrown. */
  async #send(
    operation: Operation,
    { path, body }: PackedRequest,
    key: string | undefined,
    options: CallOptions,
  ): Promise<ReceivedResponse | StrandError> {
    const send = this.#options.fetch ?? fetch
    const base = this.#baseOf(operation)
    const limit = AbortSignal.timeout((this.#options.timeoutSeconds ?? 30) * 1000)
    const headers = {
      ...(await this.#credentials(operation, options)),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    }
    try {
      const response = await send(base.replace(/\/+$/, '') + path, {
        method: operation.method,
        headers,
        signal: options.signal === undefined ? limit : AbortSignal.any([options.signal, limit]),
        // The API never redirects, and a token must not follow one elsewhere.
        redirect: 'error',
        ...(body !== undefined && { body }),
      })
      return { response, text: await response.text() }
    } catch (cause) {
      options.signal?.throwIfAborted()
      return noAnswer(operation, cause, base)
    }
  }

  #baseOf(operation: Operation): string {
    return (familyOf(operation) === 'control' && this.#options.operatorUrl) || this.#options.baseUrl
  }

  async #credentials(operation: Operation, given: CallOptions): Promise<Record<string, string>> {
    const { token, operatorToken, clientId } = this.#options
    const isControl = familyOf(operation) === 'control'
    if (operation.access.kind === 'open' && !operation.problems.includes('missing_authorization')) return {}
    const source = given.token ?? (isControl ? operatorToken : token)
    const value = typeof source === 'function' ? await source() : source
    return {
      ...(value !== undefined && { Authorization: `Bearer ${value}` }),
      ...(clientId !== undefined && !isControl && { 'Client-Id': clientId }),
    }
  }
}

function answerIn(operation: Operation, { response, text }: ReceivedResponse): unknown {
  if (operation.returns === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = `${operation.id} was answered ${response.status} with something that is not JSON.`
    const { status } = response
    throw new StrandError({ status, error: 'Bad Answer', message, operation: operation.id }, cause)
  }
}

/** Works in every browser, also on pages that did not come over TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
