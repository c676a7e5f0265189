/** The words of the command line do not go together; said in one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'CalledWrongly'
}
