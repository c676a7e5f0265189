/**
 * Copies the embedded store while others use it: a thread of its own, so that the one that asked can show how far it is. The
 * copy is what one moment of the store held, without free pages, and is looked through before it is called done.
 */

import { writeFileSync } from 'node:fs'
import { withSqlite } from './sqlite-connection.ts'
import { integrityErrors } from './sqlite-examination.ts'

export interface CopyJob {
  readonly file: string
  readonly to: string
}

export type CopyAnswer = { readonly outcome: 'done' } | { readonly outcome: 'failed'; readonly why: string }

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<CopyJob>) => {
  self.postMessage(copy(data))
}

function copy({ file, to }: CopyJob): CopyAnswer {
  try {
    // SQLite takes an empty file for the copy, and would make one that others may read.
    writeFileSync(to, '', { mode: 0o600, flag: 'wx' })
    withSqlite(file, 'read', source => source.query('vacuum into ?').run(to))
    const [violation] = integrityErrors(to, 'quick')
    return violation === undefined ? { outcome: 'done' } : { outcome: 'failed', why: violation }
  } catch (error) {
    return { outcome: 'failed', why: (error as Error).message }
  }
}
