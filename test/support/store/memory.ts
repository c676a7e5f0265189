/**
 * A folder in memory for the stores of a run: they live for seconds, and waiting for a disk is most of what creating and
 * deleting them costs.
 */
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const SHARED_MEMORY = '/dev/shm'
/** What a run may take. */
const NEEDED_BYTES = 4 * 1024 ** 3

/** That of this run, if it has one. */
export const memory = process.env.TEST_MEMORY || undefined

/** Creates one, if the system has memory to spare; it is to be removed at the end of the run. */
export function createMemoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY)
    if (bavail * bsize < NEEDED_BYTES) return undefined
    const folder = mkdtempSync(join(SHARED_MEMORY, 'strand-test-'))
    // PostgreSQL may run as another user.
    chmodSync(folder, 0o711)
    return folder
  } catch {
    return undefined
  }
}
