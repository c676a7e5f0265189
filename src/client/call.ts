/** What the client needs of an operation at run time. */
export interface Call {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Names of the inputs that are sent in the path, the query string and the body. */
  readonly params: readonly string[]
  readonly query: readonly string[]
  /** Absent: the operation takes no body. */
  readonly body?: readonly string[] | undefined
  /** Which token of the client is sent. */
  readonly credential: 'none' | 'token' | 'operatorToken'
  /** Whether the call takes an idempotency key. */
  readonly idempotent?: true
  /** Whether repeating the call is harmless, though it writes. */
  readonly repeatable?: true
  /** What the body of a success is. */
  readonly answer: 'nothing' | 'json' | 'text'
}
