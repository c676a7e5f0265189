import { rmSync } from 'node:fs'

/**
 * A Ctrl-C reaches a process twice if it has a launcher, which passes signals on: from the terminal and from the launcher.
 * Within this time they are the same one.
 */
const SAME_SIGNAL_MILLISECONDS = 500

type StopSignal = 'SIGINT' | 'SIGTERM'
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }

/** A signal ended the command, most often Ctrl-C. The message describes what was done until then; it may be empty. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly exitCode: number

  constructor(message: string, signal: StopSignal = 'SIGINT') {
    super(message)
    this.exitCode = EXIT_CODES[signal]
  }
}

/** Calls `stop` for the first of these signals; a second one exits immediately. Returns a function that ends this. */
export function onStopSignal(
  stop: (signal: StopSignal) => void,
  signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM'],
): () => void {
  let firstAt: number | undefined
  // The launcher has a channel to this process.
  const tolerance = process.connected ? SAME_SIGNAL_MILLISECONDS : 0
  const handlers = signals.map(signal => {
    const handler = () => {
      if (firstAt === undefined) {
        firstAt = performance.now()
        stop(signal)
      } else if (performance.now() - firstAt >= tolerance) {
        process.exit(EXIT_CODES[signal])
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
    for (const path of paths) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    process.exit(code)
  }
  process.once('SIGINT', exit(EXIT_CODES.SIGINT))
  process.once('SIGTERM', exit(EXIT_CODES.SIGTERM))
}
