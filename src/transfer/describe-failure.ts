import { OperatorError } from '../kit/operator-error.ts'
import { Conflict, Unavailable } from '../store/errors.ts'

/** Converts store errors to an `OperatorError` with advice; returns other errors unchanged. */
export function describeFailure(error: unknown): unknown {
  if (!(error instanceof Unavailable || error instanceof Conflict)) return error
  return new OperatorError(
    `the store is unavailable: ${error.message}; run the command again, it is safe to repeat`,
  )
}
