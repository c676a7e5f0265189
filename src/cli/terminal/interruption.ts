import { rmSync } from 'node:fs'

/**
 * A Ctrl-C reaches a process twice if it has a launcher, which passes signals on: from the terminal and from the launcher.
 * Within this time they are the same one.
 */
const SAME_SIGNAL_MILLISECONDS = 500

/** The user ended the command with Ctrl-C: exit code 130. The message describes what was done until then. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Calls `stop` for the first of these signals; a second one exits immediately. Returns a function that ends this. */
export function onStopSignal(
  stop: () => void,
  signals: readonly ('SIGINT' | 'SIGTERM')[] = ['SIGINT', 'SIGTERM'],
): () => void {
  let firstAt: number | undefined
  // The launcher has a channel to this process.
  const tolerance = process.connected ? SAME_SIGNAL_MILLISECONDS : 0
  const handlers = signals.map(signal => {
    const handler = () => {
      if (firstAt === undefined) {
        firstAt = performance.now()
        stop()
      } else if (performance.now() - firstAt >= tolerance) {
        process.exit(signal === 'SIGINT' ? 130 : 143)
      }
    }
    process.on(signal, handler)
    return () => process.off(signal, handler)
  })
  return () => {
    for (const end of handlers) end()
  }
}

/** Removes these files and folders when the process is interrupted or terminated, so that nothing unfinished is left behind. */
export function removeWhenInterrupted(paths: readonly string[]): void {
  const exit = (code: number) => () => {
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    process.exit(code)
  }
  process.once('SIGINT', exit(130))
  process.once('SIGTERM', exit(143))
}
