import { statfsSync } from 'node:fs'
import { OperatorError } from '../kit/operator-error.ts'

/** Fails if the disk of `folder` has too little space; `orElse` is the alternative to freeing space. */
export function requireFreeSpace(folder: string, needed: number, work: string, orElse: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= needed) return
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6)
  throw new OperatorError(
    `${folder} has ${megabytes(free)} MB free, but ${work} needs ${megabytes(needed)} MB: free some space, or ${orElse}`,
  )
}
