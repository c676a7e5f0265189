/** Files inside a self-contained executable have addresses that start with one of these. */
const INSIDE_EXECUTABLE = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/

/**
 * The words that start this program again, without those that follow. From a self-contained executable that is the
 * executable alone; otherwise it is the runtime, with the words that it was given itself, and the file.
 */
export function ownCommand(): string[] {
  const main = process.argv[1] ?? ''
  return INSIDE_EXECUTABLE.test(main) ? [process.execPath] : [process.execPath, ...process.execArgv, main]
}
