/**
 * The writer: a thread of its own that owns the one writing connection. It is handed all commands that were waiting, runs
 * them in one transaction, commits once, and only then answers them all: one wait for the disk for the lot. If one of them
 * fails, everything is undone and each is run in a transaction of its own, so that it fails alone. If the commit fails, none
 * of them happened.
 */
import { SQLiteError } from 'bun:sqlite'
import type { Author } from '../../domain/audit.ts'
import type { CommandName } from '../commands/index.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { FeedEntry } from '../feed.ts'
import { runCommand } from './run-command.ts'
import { openSqlite, type SqliteDatabase, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'

export interface WriterJob {
  readonly name: CommandName
  readonly args: unknown
  readonly author?: Author | undefined
}

export type WriterAnswer =
  | { readonly result: unknown; readonly entries: readonly FeedEntry[] }
  | { readonly failure: 'Unavailable' | 'Conflict' | 'Error'; readonly message: string }

/** 16 MB: folding it into the file is rare then, and reading it after a crash takes a moment. */
const LONGEST_LOG_PAGES = 4000
/** The pages that a large group of commands changes must fit, or they are written out in the middle and again at its end. */
const CACHE_KIBIBYTES = 32 * 1024
const LOCK_MILLISECONDS = 5000
const LONGEST_PAUSE_MILLISECONDS = 1

declare const self: Worker

self.onmessage = (opening: MessageEvent<string>) => {
  const connection = openSqlite(opening.data, 'write')
  connection.run(`pragma wal_autocheckpoint = ${LONGEST_LOG_PAGES}`)
  connection.run(`pragma cache_size = -${CACHE_KIBIBYTES}`)
  // Waiting for another process is done in `beginWriting`.
  connection.run('pragma busy_timeout = 0')
  const db = sqliteDatabase(connection)

  async function runTogether(jobs: readonly WriterJob[]): Promise<WriterAnswer[]> {
    try {
      beginWriting(db)
      const answers: WriterAnswer[] = []
      for (const { name, args, author } of jobs) {
        answers.push(await runCommand(db, name, args, author))
      }
      db.say('commit')
      return answers
    } catch (thrown) {
      if (connection.inTransaction) db.say('rollback')
      const error = translateSqliteError(thrown)
      const isOfOne = jobs.length > 1 && !(error instanceof Unavailable)
      return isOfOne ? runOneByOne(jobs) : jobs.map(() => failed(error))
    }
  }

  async function runOneByOne(jobs: readonly WriterJob[]): Promise<WriterAnswer[]> {
    const answers: WriterAnswer[] = []
    for (const job of jobs) answers.push(...(await runTogether([job])))
    return answers
  }

  self.onmessage = async (message: MessageEvent<string>) => {
    if (message.data === 'close') {
      db.close()
      self.postMessage('closed')
      return
    }
    const answers = await runTogether(JSON.parse(message.data) as WriterJob[])
    self.postMessage(JSON.stringify(answers))
  }
  self.postMessage('ready')
}

/**
 * Takes the lock, for which another process on the same file may have to be waited for. SQLite's own way of waiting sleeps
 * longer and longer, up to a tenth of a second, and so a busy neighbour would always be faster. Short pauses of random
 * length give both their turns.
 */
function beginWriting(db: SqliteDatabase): void {
  const deadline = performance.now() + LOCK_MILLISECONDS
  for (;;) {
    try {
      db.say('begin immediate')
      return
    } catch (error) {
      const isLocked = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY')
      if (!isLocked || performance.now() > deadline) throw error
    }
    Bun.sleepSync(Math.random() * LONGEST_PAUSE_MILLISECONDS)
  }
}

function failed(error: unknown): WriterAnswer {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (error instanceof Unavailable) return { failure: 'Unavailable', message: error.message }
  if (error instanceof Conflict) return { failure: 'Conflict', message: error.message }
  return { failure: 'Error', message }
}
