/** The two things that a store throws. Absence is not among them: it is `undefined`. */

/** The store cannot be reached, or will not say whether a write happened. Answered 503; the caller tries again. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** More is asked of the store than it can take: this was refused before anything was sent to it. */
export class Overloaded extends Unavailable {}

/** Two writers met, and this one must look again. Commands are tried anew a few times before it is told. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
}
