/**
 * Copies the embedded store while it is in use, in a worker thread so that the caller can show progress. The copy is a
 * consistent snapshot without free pages, and is checked before success is reported.
 */

import { writeFileSync } from 'node:fs'
import { withSqlite } from './sqlite-connection.ts'
import { integrityErrors } from './sqlite-examination.ts'

export interface CopyJob {
  readonly file: string
  readonly to: string
}

export type CopyAnswer =
  | { readonly outcome: 'done' }
  | { readonly outcome: 'failed'; readonly reason: string }

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyJob>) => {
  self.postMessage(copy(data))
}

function copy({ file, to }: CopyJob): CopyAnswer {
  try {
    // SQLite accepts an empty file as the target, and would create one that other users can read.
    writeFileSync(to, '', { mode: 0o600, flag: 'wx' })
    withSqlite(file, 'read', source => source.query('vacuum into ?').run(to))
    const [violation] = integrityErrors(to, 'quick')
    return violation === undefined ? { outcome: 'done' } : { outcome: 'failed', reason: violation }
  } catch (error) {
    return { outcome: 'failed', reason: (error as Error).message }
  }
}
