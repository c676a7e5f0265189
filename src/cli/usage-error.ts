/** Invalid arguments or flags. The message is printed without a stack trace; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
