/** A token, or a function that returns the current one: user tokens expire and are refreshed. */
export type Token = string | (() => string | Promise<string>)

export interface ClientOptions {
  /** The server's address, such as `http://localhost:8080`. */
  readonly baseUrl: string
  /** The app or user token for calls under `helix`, and the token that `oauth.validateToken` validates. */
  readonly token?: Token
  /** Sent as `Client-Id` with the token. The server checks that it matches the token, and requires it in strict mode. */
  readonly clientId?: string
  /** Sent with calls under `control` only. */
  readonly operatorToken?: Token
  /** Address of the control API if it has a separate listener (default: `baseUrl`). */
  readonly operatorUrl?: string
  /** Maximum number of retries when the server is busy (default: 3). */
  readonly retries?: number
  /** Longest wait between two attempts (default: 60). */
  readonly longestWaitSeconds?: number
  /** Timeout of one attempt (default: 30). */
  readonly timeoutSeconds?: number
  /** Sends a request (default: the global `fetch`). */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}
