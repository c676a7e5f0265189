import { OperatorError } from '../kit/operator-error.ts'
import { Conflict, Unavailable } from '../store/errors.ts'

/** What the store threw at a command, in one sentence and with what to do; anything else as it is. */
export function describeFailure(error: unknown): unknown {
  if (!(error instanceof Unavailable || error instanceof Conflict)) return error
  return new OperatorError(
    `the store is not available: ${error.message}; run it again, nothing happens twice`,
  )
}
