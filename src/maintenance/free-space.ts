import { statfsSync } from 'node:fs'
import { OperatorError } from '../kit/operator-error.ts'

/** Refuses work on a disk that is too full for it; `orElse` is what to do other than to free space. */
export function requireFreeSpace(folder: string, needed: number, work: string, orElse: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= needed) return
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6)
  throw new OperatorError(
    `${folder} has ${megabytes(free)} MB free and ${work} needs ${megabytes(needed)} MB: free some, or ${orElse}`,
  )
}
