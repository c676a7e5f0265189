/** Something about the installation that the operator must mend; said in one sentence, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'CannotStart'
}
