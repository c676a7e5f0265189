/** The errors that a store throws. A missing row is not an error: it is `undefined`. */

/** The store is unreachable, or the outcome of a write is unknown. Answered with 503; the caller retries. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** The store is overloaded: the request was rejected before anything was sent to it. */
export class Overloaded extends Unavailable {}

/** Two transactions conflicted, and this one must be retried. Commands are retried a few times before it is thrown. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
}
