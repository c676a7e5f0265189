/** A problem with the installation that the operator has to fix. Shown as one sentence, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}
