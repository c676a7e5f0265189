/** A token, or a function that gives one each time: tokens of people run out and are renewed. */
export type Token = string | (() => string | Promise<string>)

export interface ClientOptions {
  /** Where the server is, such as `http://localhost:8080`. */
  readonly baseUrl: string
  /** The app or user token of the calls under `helix`, and what `oauth.validateToken` asks about. */
  readonly token?: Token
  /** Sent as `Client-Id` along with the token; the server needs it for nothing but to compare. */
  readonly clientId?: string
  /** For the calls under `control`; it goes nowhere else. */
  readonly operatorToken?: Token
  /** Where the operator's side has a listener of its own; `baseUrl` if left out. */
  readonly operatorUrl?: string
  /** How often a call is repeated at most when the server is busy; 3 if left out. */
  readonly retries?: number
  /** The longest wait between two attempts; 60 seconds if left out. */
  readonly longestWaitSeconds?: number
  /** How long one attempt may take; 30 seconds if left out. */
  readonly timeoutSeconds?: number
  /** Sends a request; the `fetch` of the surroundings if left out. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}
