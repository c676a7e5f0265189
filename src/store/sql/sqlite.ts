import { statSync } from 'node:fs'
import type { Author } from '../../domain/audit.ts'
import type { Figures } from '../../kit/figures.ts'
import { Histogram, SECONDS } from '../../kit/histogram.ts'
import type { CommandName } from '../commands/index.ts'
import type { Database } from '../database.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { Engine } from '../store.ts'
import type { SchemaOptions } from './migrate.ts'
import { openSqlite, type SqliteDatabase, sqliteDatabase, translateSqliteError } from './sqlite-connection.ts'
import { migrateSqlite, requireSchema } from './sqlite-migrate.ts'
import { SqliteReader } from './sqlite-reader.ts'
import type { WriterAnswer, WriterJob } from './sqlite-writer.ts'

const LARGEST_BATCH = 256
const LONGEST_QUEUE = 10_000
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, LARGEST_BATCH] as const
const REOPEN_MILLISECONDS = 1000

interface Waiting {
  readonly job: WriterJob
  resolve(answer: Awaited<ReturnType<Engine['run']>>): void
  reject(error: unknown): void
}

/** The embedded store: readers here, one writer in its thread. */
export async function openSqliteEngine(
  file: string,
  { migrate }: Pick<SchemaOptions, 'migrate'> = {},
): Promise<Engine> {
  const schema = migrate === false ? requireSchema(file) : await migrateSqlite(file)
  const reader = new SqliteReader(openSqlite(file, 'read'))
  const writer = await Writer.start(file, () => reader.renew())
  return {
    name: 'sqlite',
    schema,
    db: reader.db,
    snapshot: read => readInOneView(file, read),
    run: (name, args, author) => writer.run(name, args, author),
    measure: figures => {
      writer.measure(figures)
      measureFiles(file, figures)
    },
    close: async () => {
      // The writer closes last: then nobody else reads, and its log is folded into the file.
      reader.close()
      await writer.close()
    },
  }
}

/** While the view is open, the log cannot be folded into the file and grows by what is written: it ends as soon as it may. */
async function readInOneView<T>(file: string, read: (db: Database) => Promise<T>): Promise<T> {
  let db: SqliteDatabase | undefined
  try {
    db = sqliteDatabase(openSqlite(file, 'read'))
    db.say('begin')
    return await read(db)
  } catch (thrown) {
    throw translateSqliteError(thrown)
  } finally {
    db?.close()
  }
}

/**
 * The main thread's end of the writer. While the writer is at work, commands gather here; when it answers, all that
 * gathered go over as the next batch. That is the whole of group commit.
 */
class Writer {
  readonly #file: string
  /** Called when commands have ended, before those who wait for them hear of it. */
  readonly #onEnd: () => void
  #worker: Worker | undefined
  #waiting: Waiting[] = []
  #running: readonly Waiting[] = []
  #closing = false
  #onIdle: (() => void) | undefined
  readonly #batches = new Histogram(BATCH_SIZES)
  readonly #batchSeconds = new Histogram(SECONDS)
  #sentAt = 0
  #lost = 0

  private constructor(file: string, onEnd: () => void) {
    this.#file = file
    this.#onEnd = onEnd
  }

  static async start(file: string, onEnd: () => void): Promise<Writer> {
    const writer = new Writer(file, onEnd)
    await writer.#open()
    return writer
  }

  run(name: CommandName, args: unknown, author?: Author): ReturnType<Engine['run']> {
    if (this.#worker === undefined) return Promise.reject(new Unavailable('the writer is not running'))
    if (this.#waiting.length >= LONGEST_QUEUE) return Promise.reject(new Unavailable('the writer is behind'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job: { name, args, author }, resolve, reject })
      // Commands of the same turn of the event loop travel together.
      if (this.#running.length === 0 && this.#waiting.length === 1) setImmediate(() => this.#send())
    })
  }

  async close(): Promise<void> {
    this.#closing = true
    if (this.#running.length > 0 || this.#waiting.length > 0) {
      await new Promise<void>(resolve => {
        this.#onIdle = resolve
      })
    }
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return
    await new Promise<void>(resolve => {
      worker.onmessage = () => resolve()
      worker.addEventListener('close', () => resolve())
      worker.postMessage('close')
    })
    worker.terminate()
  }

  measure(figures: Figures): void {
    figures.gauge('strand_store_writer_waiting', 'Commands that wait for the writer.', this.#waiting.length)
    figures.gauge('strand_store_writer_running', 'Commands that the writer is at.', this.#running.length)
    figures.histogram('strand_store_batch_size', 'Commands committed together.', this.#batches)
    figures.histogram(
      'strand_store_batch_duration_seconds',
      'Time from handing commands to the writer to their commit.',
      this.#batchSeconds,
    )
    figures.counter('strand_store_writer_losses_total', 'Times the writer thread was lost.', this.#lost)
  }

  async #open(): Promise<void> {
    const worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url).href)
    await new Promise<void>((resolve, reject) => {
      worker.onmessage = () => resolve()
      worker.onerror = event => reject(new Unavailable(event.message))
      worker.postMessage(this.#file)
    })
    worker.onmessage = (message: MessageEvent<string>) => this.#settle(JSON.parse(message.data))
    worker.onerror = event => this.#lose(worker, event.message)
    worker.addEventListener('close', () => this.#lose(worker, 'its thread ended'))
    this.#worker = worker
  }

  #send(): void {
    if (this.#running.length > 0 || this.#waiting.length === 0 || this.#worker === undefined) return
    this.#running = this.#waiting.splice(0, LARGEST_BATCH)
    this.#sentAt = performance.now()
    this.#worker.postMessage(JSON.stringify(this.#running.map(each => each.job)))
  }

  #settle(answers: readonly WriterAnswer[]): void {
    const settled = this.#running
    this.#batches.note(settled.length)
    this.#batchSeconds.note((performance.now() - this.#sentAt) / 1000)
    this.#running = []
    this.#onEnd()
    this.#send()
    for (const [index, each] of settled.entries()) {
      const answer = answers[index]
      if (answer === undefined) each.reject(new Unavailable('the writer gave no answer'))
      else if ('failure' in answer) each.reject(asError(answer))
      else each.resolve(answer)
    }
    if (this.#running.length === 0) this.#onIdle?.()
  }

  /** The thread is gone. Whether its last commands happened is unknown to those who wait; a new thread takes over. */
  #lose(worker: Worker, why: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#lost += 1
    worker.terminate()
    this.#onEnd()
    const lost = [...this.#running, ...this.#waiting]
    this.#running = []
    this.#waiting = []
    for (const each of lost) each.reject(new Unavailable(`the writer has failed: ${why}`))
    this.#onIdle?.()
    if (!this.#closing) this.#openAgain()
  }

  #openAgain(): void {
    this.#open().catch(() => setTimeout(() => this.#openAgain(), REOPEN_MILLISECONDS))
  }
}

/** The log beside the file is folded into it from time to time; one that keeps growing is not. */
function measureFiles(file: string, figures: Figures): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  figures.gauge('strand_store_file_bytes', 'Size of the files of the embedded store.', [
    [{ file: 'main' }, sizeOf(file)],
    [{ file: 'log' }, sizeOf(`${file}-wal`)],
  ])
}

function asError({ failure, message }: Extract<WriterAnswer, { failure: string }>): Error {
  if (failure === 'Unavailable') return new Unavailable(message)
  if (failure === 'Conflict') return new Conflict(message)
  return new Error(message)
}
