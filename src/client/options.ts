import type { ResponseInfo } from './response-info.ts'
import type { StrandError } from './strand-error.ts'
import type { Token } from './token.ts'

/** A request that is about to be sent. */
export interface RequestEvent {
  /** The name of the operation, such as `GetStreams`. */
  readonly operation: string
  readonly method: string
  readonly url: string
  /** Headers to be sent, with the token. They can be changed, for example to add `traceparent`. */
  readonly headers: Headers
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** A response, of any status. */
export interface ResponseEvent extends ResponseInfo {
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly attempt: number
  /** Time from sending the request to the end of the body. */
  readonly milliseconds: number
}

/** A failed attempt after which another one follows. */
export interface RetryEvent {
  readonly operation: string
  /** The number of the failed attempt. */
  readonly attempt: number
  readonly error: StrandError
  readonly waitSeconds: number
}

export interface ClientOptions {
  /** The server's address, such as `http://localhost:8080`. */
  readonly baseUrl: string
  /** The app or user token for calls under `helix`, and the token that `oauth.validateToken` validates. */
  readonly token?: Token | undefined
  /** Sent as `Client-Id` with the token. The server checks that it matches the token, and requires it in strict mode. */
  readonly clientId?: string | undefined
  /** Sent with calls under `control` only. */
  readonly operatorToken?: Token | undefined
  /** Address of the control API if it has a separate listener (default: `baseUrl`). */
  readonly operatorUrl?: string | undefined
  /** Maximum number of retries when the server is busy (default: 3). */
  readonly retries?: number | undefined
  /** Longest wait between two attempts (default: 60). */
  readonly longestWaitSeconds?: number | undefined
  /** Timeout of one attempt (default: 30). */
  readonly timeoutSeconds?: number | undefined
  /** Sends a request (default: the global `fetch`). */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Called before each attempt. If it throws, the call fails with that error and nothing is sent. */
  readonly onRequest?: ((event: RequestEvent) => void | Promise<void>) | undefined
  /** Called after each response. */
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Called before the wait for the next attempt. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
}
