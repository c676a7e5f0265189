/** Paths of files inside a self-contained executable. */
const INSIDE_EXECUTABLE = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/

/**
 * The command that starts this program again, without its arguments: the self-contained executable, or the runtime with its
 * options and the main file.
 */
export function ownCommand(): string[] {
  const main = process.argv[1] ?? ''
  return INSIDE_EXECUTABLE.test(main) ? [process.execPath] : [process.execPath, ...process.execArgv, main]
}
