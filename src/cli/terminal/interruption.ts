import { rmSync } from 'node:fs'

/** Removes these files and folders when the process is interrupted or terminated, so that nothing unfinished is left behind. */
export function removeWhenInterrupted(paths: readonly string[]): void {
  const exit = (code: number) => () => {
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    process.exit(code)
  }
  process.once('SIGINT', exit(130))
  process.once('SIGTERM', exit(143))
}
