/**
 * The writer thread, which owns the only writing connection. It receives all waiting commands as a batch, runs them in one
 * transaction, commits once, and only then answers them all, so that they share one wait for the disk. If one of them fails,
 * the batch is rolled back and each command runs in a separate transaction, so that only that one fails. If the commit
 * fails, none of them is acknowledged.
 *
 * After a disk failure the connection is closed, and the next batch opens a new one. Every message is answered, whatever
 * happens. An empty batch, sent every second while idle, checks that the files were not moved, and probes with a write if the
 * last one failed.
 */
import { SQLiteError } from 'bun:sqlite'
import { type Job, runCommand } from '../engine/run-command.ts'
import type { CommandOutcome } from '../engine.ts'
import { Conflict, Unavailable } from '../errors.ts'
import { type SqliteDatabase, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'
import { StoreFiles, StoreMoved } from './sqlite-files.ts'

export type WriterAnswer =
  | CommandOutcome
  | { readonly failure: 'Unavailable' | 'Conflict' | 'Error'; readonly message: string }

/** The answer to a batch. */
export interface WriterReport {
  /** One for each job, in order. */
  readonly answers: readonly WriterAnswer[]
  /** Why writes fail, for the operator; absent if they succeed. */
  readonly unavailableReason?: string | undefined
}

/** Must hold the pages that a large batch changes, or they are written in the middle of it and again at its end. */
const CACHE_KIBIBYTES = 32 * 1024
/** Shorter than the deadline of a write, so that its caller learns that it did not happen. */
const LOCK_MILLISECONDS = 2000
/** Short, because commands may arrive meanwhile. */
const PROBE_LOCK_MILLISECONDS = 200
const MAX_PAUSE_MILLISECONDS = 1

declare const self: Worker

class SqliteWriter {
  readonly #files: StoreFiles
  #db: SqliteDatabase | undefined
  #unavailableReason: string | undefined

  constructor(files: StoreFiles) {
    this.#files = files
  }

  /** Never throws. */
  async run(jobs: readonly Job[]): Promise<WriterReport> {
    const answers = await (jobs.length > 0 ? this.#runTogether(jobs) : this.#maintainFiles())
    return { answers, unavailableReason: this.#unavailableReason }
  }

  close(): void {
    this.#db?.close()
    this.#db = undefined
  }

  async #runTogether(jobs: readonly Job[]): Promise<WriterAnswer[]> {
    try {
      return await this.#commit(LOCK_MILLISECONDS, async db => {
        const answers: WriterAnswer[] = []
        for (const job of jobs) answers.push(await runCommand(db, job))
        return answers
      })
    } catch (error) {
      const isOneCommand = jobs.length > 1 && !(error instanceof Unavailable)
      return isOneCommand ? this.#runOneByOne(jobs) : jobs.map(() => failed(error))
    }
  }

  async #runOneByOne(jobs: readonly Job[]): Promise<WriterAnswer[]> {
    const answers: WriterAnswer[] = []
    for (const job of jobs) answers.push(...(await this.#runTogether([job])))
    return answers
  }

  async #maintainFiles(): Promise<[]> {
    try {
      if (this.#unavailableReason !== undefined) await this.#commit(PROBE_LOCK_MILLISECONDS, probeWrite)
      else this.#files.require()
    } catch (thrown) {
      this.#recover(translateSqliteError(thrown))
    }
    return []
  }

  /** Does the work in one transaction. When this returns, it is on disk, in the files at the paths of the store. */
  async #commit<T>(lockMilliseconds: number, work: (db: SqliteDatabase) => Promise<T>): Promise<T> {
    try {
      // The files are checked after every commit; an additional check before it pays off only after a failure.
      if (this.#unavailableReason !== undefined) this.#files.require()
      const db = this.#connect()
      beginWriting(db, lockMilliseconds)
      const done = await work(db)
      db.execute('commit')
      this.#files.require()
      this.#unavailableReason = undefined
      return done
    } catch (thrown) {
      const error = translateSqliteError(thrown)
      this.#recover(error)
      throw error
    }
  }

  /** Rolls back, and drops the connection if the disk failed. */
  #recover(error: unknown): void {
    if (error instanceof Unavailable) this.#unavailableReason = error.message
    const isDiskFailure = error instanceof Unavailable && !(error instanceof StoreMoved)
    try {
      if (this.#db?.inTransaction) this.#db.execute('rollback')
      if (isDiskFailure || this.#db?.inTransaction) this.#disconnect()
    } catch {
      this.#disconnect()
    }
  }

  #disconnect(): void {
    this.#db?.closeKeepingLog()
    this.#db = undefined
  }

  #connect(): SqliteDatabase {
    if (this.#db !== undefined) return this.#db
    const connection = this.#files.open('write')
    try {
      // Those are the work of another thread (`sqlite-checkpointer.ts`).
      connection.run('pragma wal_autocheckpoint = 0')
      connection.run(`pragma cache_size = -${CACHE_KIBIBYTES}`)
      // `beginWriting` waits for other processes.
      connection.run('pragma busy_timeout = 0')
    } catch (error) {
      connection.close()
      throw error
    }
    this.#db = sqliteDatabase(connection)
    return this.#db
  }
}

/**
 * Takes the write lock, which another process on the same file may hold. SQLite's busy handler sleeps longer and longer, up
 * to a tenth of a second, so a busy process would always be faster. Short random pauses are fair to both.
 */
function beginWriting(db: SqliteDatabase, milliseconds: number): void {
  const deadline = performance.now() + milliseconds
  for (;;) {
    try {
      db.execute('begin immediate')
      return
    } catch (error) {
      const isLocked = error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY')
      if (!isLocked || performance.now() > deadline) throw error
    }
    Bun.sleepSync(Math.random() * MAX_PAUSE_MILLISECONDS)
  }
}

/** Changes nothing, but has to reach the disk. */
async function probeWrite(db: SqliteDatabase): Promise<void> {
  db.execute('update feed_head set id = id')
}

function failed(error: unknown): WriterAnswer {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (error instanceof Unavailable) return { failure: 'Unavailable', message: error.message }
  if (error instanceof Conflict) return { failure: 'Conflict', message: error.message }
  return { failure: 'Error', message }
}

self.onmessage = ({ data }: MessageEvent<Pick<StoreFiles, 'file' | 'ids'>>) => {
  const writer = new SqliteWriter(new StoreFiles(data))
  self.onmessage = async (message: MessageEvent<string>) => {
    if (message.data === 'close') {
      writer.close()
      self.postMessage('closed')
      return
    }
    const report = await writer.run(JSON.parse(message.data) as Job[])
    self.postMessage(JSON.stringify(report))
  }
  self.postMessage('ready')
}
