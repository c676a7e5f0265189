/**
 * The writer: a thread of its own that owns the one writing connection. It is handed all commands that were waiting,
 * runs each behind a savepoint, commits once, and only then answers them all: one wait for the disk for the lot. A
 * command that fails is undone alone; if the commit fails, none of them happened.
 */
import type { CommandName } from '../commands/index.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { FeedEntry } from '../feed.ts'
import { runCommand } from './run-command.ts'
import { openSqlite, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'

export interface WriterJob {
  readonly name: CommandName
  readonly args: unknown
}

export type WriterAnswer =
  | { readonly result: unknown; readonly entries: readonly FeedEntry[] }
  | { readonly failure: 'Unavailable' | 'Conflict' | 'Error'; readonly message: string }

declare const self: Worker

self.onmessage = (opening: MessageEvent<string>) => {
  const connection = openSqlite(opening.data, 'write')
  const db = sqliteDatabase(connection)

  async function runOne({ name, args }: WriterJob): Promise<WriterAnswer> {
    db.say('savepoint command')
    try {
      const answer = await runCommand(db, name, args)
      db.say('release command')
      return answer
    } catch (error) {
      // A full disk undoes the whole transaction by itself: then nothing of the group happened.
      if (!connection.inTransaction) throw error
      db.say('rollback to command')
      db.say('release command')
      return failed(error)
    }
  }

  async function runBatch(jobs: readonly WriterJob[]): Promise<WriterAnswer[]> {
    try {
      db.say('begin immediate')
      const answers: WriterAnswer[] = []
      for (const job of jobs) answers.push(await runOne(job))
      db.say('commit')
      return answers
    } catch (error) {
      if (connection.inTransaction) db.say('rollback')
      const answer = failed(error)
      return jobs.map(() => answer)
    }
  }

  self.onmessage = async (message: MessageEvent<string>) => {
    if (message.data === 'close') {
      db.close()
      self.postMessage('closed')
      return
    }
    const answers = await runBatch(JSON.parse(message.data) as WriterJob[])
    self.postMessage(JSON.stringify(answers))
  }
  self.postMessage('ready')
}

function failed(thrown: unknown): WriterAnswer {
  const error = translateSqliteError(thrown)
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (error instanceof Unavailable) return { failure: 'Unavailable', message: error.message }
  if (error instanceof Conflict) return { failure: 'Conflict', message: error.message }
  return { failure: 'Error', message }
}
