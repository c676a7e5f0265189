import { rmSync } from 'node:fs'

/** A person who gets impatient, or a system that shuts down, leaves nothing half done behind: these are removed first. */
export function removeWhenInterrupted(paths: readonly string[]): void {
  const leave = (code: number) => () => {
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    process.exit(code)
  }
  process.once('SIGINT', leave(130))
  process.once('SIGTERM', leave(143))
}
