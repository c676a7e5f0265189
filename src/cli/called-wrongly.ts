/** The words of the command line do not go together; said in one sentence, exit code 2. */
export class CalledWrongly extends Error {
  override readonly name = 'CalledWrongly'
}
