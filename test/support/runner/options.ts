import { join } from 'node:path'

/** Of one test, unless it sets its limit: long enough for a busy machine. */
const TIMEOUT_MILLISECONDS = 120_000

/**
 * How Bun runs the test files. Those of the default tier share what their worker has loaded and compiled, which takes longer
 * than most of them; those of the full tier have it afresh.
 */
export function runnerOptions({ workers, isFull }: { workers: number; isFull: boolean }): string[] {
  const isolation = isFull ? '--isolate' : '--no-isolate'
  const preload = `--preload=${join(import.meta.dir, '..', 'assertions.ts')}`
  return [`--parallel=${workers}`, isolation, `--timeout=${TIMEOUT_MILLISECONDS}`, preload]
}
