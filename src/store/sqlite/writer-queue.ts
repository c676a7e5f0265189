/**
 * The queue in front of the writer thread of an embedded store.
 *
 * The problem: SQLite has one writer at a time, and a commit waits for the disk. With a commit for each command, the disk
 * would decide how many commands there are per second. So commands wait here while the writer is busy, and are sent together
 * as the next batch, which the thread (`sqlite-writer.ts`) commits once. The busier the writer, the larger the batches.
 *
 *     run --> queued --> sent to the writer --> answered
 *               |             |
 *               |             '-- deadline: the caller gets 503, the outcome is unknown
 *               '-- deadline: the caller gets 503, the command is withdrawn and never runs
 *
 * | Event | Queued commands | Sent commands | New commands |
 * |---|---|---|---|
 * | the writer answers | the next batch of up to 256 | answered, in the order of the batch | queued |
 * | a deadline passes while a batch runs | withdrawn at their deadline | unknown at their deadline | rejected until the writer answers |
 * | the queue has 10,000 commands | | | rejected |
 * | the thread ends | rejected | rejected, outcome unknown | rejected until a new thread runs |
 * | `close` | run, for 5 s at most, then rejected | the same | |
 *
 * A command whose outcome is unknown may still commit. Its feed entries then reach all caches with the next read of the
 * feed. An idle writer gets an empty batch every second, which lets it check its files.
 *
 * What must hold:
 * - At most one batch is with the writer.
 * - Every caller gets exactly one answer, by its deadline at the latest.
 * - Callers continue after `onEnd`, which lets the reading connection see the commit: a caller reads what it has written.
 * - A new command does not wait behind a writer that has stopped answering.
 */
import type { Author } from '../../domain/audit.ts'
import { Histogram, SECONDS } from '../../kit/telemetry/histogram.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { withTimeout } from '../../kit/time/with-timeout.ts'
import type { CommandName } from '../command-list.ts'
import { WRITE_MILLISECONDS, writeMilliseconds } from '../engine/deadlines.ts'
import type { Job } from '../engine/run-command.ts'
import type { Engine } from '../engine.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { StoreFiles } from './sqlite-files.ts'
import type { WriterAnswer, WriterReport } from './sqlite-writer.ts'

const MAX_BATCH = 256
const MAX_QUEUE = 10_000
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, MAX_BATCH] as const
const REOPEN_MILLISECONDS = 1000
/** How often an idle writer is sent an empty batch. */
const TICK_MILLISECONDS = 1000
/** How long closing waits for running commands, and then for the thread to close its connection. */
const CLOSE_MILLISECONDS = 5000

type Outcome = Awaited<ReturnType<Engine['run']>>

/** A command whose caller waits. */
interface Waiting {
  /** The command as JSON text. */
  readonly job: string
  readonly since: number
  readonly milliseconds: number
  readonly timer: Timer
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/** Commands that were sent to the writer together. An empty batch only checks the files. */
interface Batch {
  readonly commands: readonly Waiting[]
  readonly sentAt: number
  /** The latest deadline of its commands. */
  readonly overdueAt: number
}

export class WriterQueue {
  readonly #files: StoreFiles
  /** Called after commands have ended, before their callers continue. Must not throw. */
  readonly #onEnd: () => void
  #worker: Worker | undefined
  readonly #waiting = new Set<Waiting>()
  #running: Batch | undefined
  #sendsSoon = false
  /** Deadlines that have passed since the writer last answered. */
  #missed = 0
  /** Why the writer cannot write, from its last report. */
  #unavailableReason: string | undefined
  readonly #ticking: Timer
  /** Resolves when the thread has started for the first time. */
  #starting: Promise<void> | undefined
  #hasStarted = false
  #closing = false
  #onIdle: () => void = () => undefined
  readonly #batches = new Histogram(BATCH_SIZES)
  readonly #batchSeconds = new Histogram(SECONDS)
  readonly #deadlinesMissed = { withdrawn: 0, unknown: 0 }
  #lost = 0

  constructor(files: StoreFiles, onEnd: () => void) {
    this.#files = files
    this.#onEnd = onEnd
    this.#ticking = setInterval(() => this.#send('tick'), TICK_MILLISECONDS)
  }

  /** Starts the thread, unless the first command has done so. */
  async start(): Promise<void> {
    this.#starting ??= this.#open()
    try {
      await this.#starting
      this.#hasStarted = true
    } catch (error) {
      clearInterval(this.#ticking)
      throw error
    }
  }

  run(name: CommandName, args: unknown, author?: Author): Promise<Outcome> {
    if (this.#hasStarted) return this.#enqueue(name, args, author)
    return this.start().then(() => this.#enqueue(name, args, author))
  }

  #enqueue(name: CommandName, args: unknown, author?: Author): Promise<Outcome> {
    if (this.#worker === undefined) return Promise.reject(new Unavailable('the writer is not running'))
    if (this.#missed > 0) return Promise.reject(new Unavailable('the writer does not answer'))
    if (this.#waiting.size >= MAX_QUEUE)
      return Promise.reject(new Unavailable('the queue of the writer is full'))
    return new Promise((resolve, reject) => {
      const job: Job = { name, args, author }
      const milliseconds = writeMilliseconds(name)
      const waiting: Waiting = {
        job: JSON.stringify(job),
        since: performance.now(),
        milliseconds,
        timer: setTimeout(() => this.#expire(waiting), milliseconds),
        resolve,
        reject,
      }
      this.#waiting.add(waiting)
      this.#sendSoon()
    })
  }

  /** Why writes are not acknowledged, for the operator; undefined if they are. */
  unavailableReason(): string | undefined {
    if (!this.#hasStarted) return undefined
    if (this.#worker === undefined) return 'the writer is not running; starting a new one'
    if (this.#missed > 0 || (this.#running?.overdueAt ?? Number.POSITIVE_INFINITY) < performance.now()) {
      return 'the writer does not answer; the disk may be stalled'
    }
    return this.#unavailableReason
  }

  /** Returns in bounded time. Throws if the writer did not stop: a thread that waits for the disk cannot be stopped. */
  async close(): Promise<void> {
    this.#closing = true
    clearInterval(this.#ticking)
    const isIdle = await endsInTime(resolve => {
      this.#onIdle = resolve
      if (this.#isIdle) resolve()
    })
    const worker = this.#worker
    this.#worker = undefined
    this.#rejectAll('the store is being closed')
    if (worker === undefined) return
    const isClosed =
      isIdle &&
      (await endsInTime(resolve => {
        worker.onmessage = resolve
        worker.addEventListener('close', resolve)
        worker.postMessage('close')
      }))
    worker.terminate()
    if (!isClosed) throw new Unavailable('the writer did not stop in time; the disk may be stalled')
  }

  measure(metrics: Metrics): void {
    const running = this.#running?.commands ?? []
    const oldest = running[0] ?? this.#waiting.values().next().value
    metrics.gauge('strand_store_writer_waiting', 'Commands waiting for the writer.', this.#waiting.size)
    metrics.gauge('strand_store_writer_running', 'Commands that the writer is running.', running.length)
    metrics.gauge(
      'strand_store_writer_oldest_seconds',
      'Age of the oldest waiting or running command.',
      oldest === undefined ? 0 : (performance.now() - oldest.since) / 1000,
    )
    metrics.gauge(
      'strand_store_writable',
      'Whether writes to the embedded store are acknowledged: 1 or 0.',
      this.unavailableReason() === undefined ? 1 : 0,
    )
    metrics.counter(
      'strand_store_deadlines_missed_total',
      'Commands answered with 503 at their deadline, by outcome.',
      Object.entries(this.#deadlinesMissed).map(([outcome, count]) => [{ outcome }, count] as const),
    )
    metrics.histogram('strand_store_batch_size', 'Commands committed together.', this.#batches)
    metrics.histogram(
      'strand_store_batch_duration_seconds',
      'Time from sending a batch to the writer to its commit.',
      this.#batchSeconds,
    )
    metrics.counter('strand_store_writer_losses_total', 'Times the writer thread was lost.', this.#lost)
  }

  async #open(): Promise<void> {
    const worker = new Worker(new URL('./sqlite-writer.ts', import.meta.url).href)
    try {
      await new Promise<void>((resolve, reject) => {
        worker.onmessage = () => resolve()
        worker.onerror = event => reject(new Unavailable(event.message))
        const { file, ids } = this.#files
        worker.postMessage({ file, ids })
      })
    } catch (error) {
      worker.terminate()
      throw error
    }
    if (this.#closing) {
      worker.terminate()
      return
    }
    worker.onmessage = (message: MessageEvent<string>) => this.#settle(worker, message.data)
    worker.onerror = event => this.#lose(worker, event.message)
    worker.addEventListener('close', () => this.#lose(worker, 'the thread ended'))
    this.#worker = worker
  }

  /** Commands of the same turn of the event loop form one batch. */
  #sendSoon(): void {
    if (this.#running !== undefined || this.#sendsSoon) return
    this.#sendsSoon = true
    setImmediate(() => {
      this.#sendsSoon = false
      this.#send()
    })
  }

  #send(trigger?: 'tick'): void {
    if (this.#running !== undefined || this.#worker === undefined) return
    const commands = [...this.#waiting.values().take(MAX_BATCH)]
    if (commands.length === 0 && trigger !== 'tick') return
    for (const command of commands) this.#waiting.delete(command)
    const sentAt = performance.now()
    const maxWait = Math.max(WRITE_MILLISECONDS, ...commands.map(each => each.milliseconds))
    this.#running = { commands, sentAt, overdueAt: sentAt + maxWait }
    this.#worker.postMessage(`[${commands.map(each => each.job).join(',')}]`)
  }

  /**
   * The writer has answered. Promises are settled first, so that no failure below can leave callers waiting. Callers continue
   * when this turn of the event loop ends, after the view of the reader was renewed.
   */
  #settle(worker: Worker, message: string): void {
    const batch = this.#running
    if (worker !== this.#worker || batch === undefined) return
    this.#running = undefined
    this.#missed = 0
    const { answers, unavailableReason } = readReport(message)
    for (const [index, command] of batch.commands.entries()) answer(command, answers[index])
    this.#unavailableReason = unavailableReason
    this.#onEnd()
    this.#send()
    if (this.#isIdle) this.#onIdle()
    if (batch.commands.length === 0) return
    this.#batches.note(batch.commands.length)
    this.#batchSeconds.note((performance.now() - batch.sentAt) / 1000)
  }

  #expire(command: Waiting): void {
    const isQueued = this.#waiting.delete(command)
    this.#deadlinesMissed[isQueued ? 'withdrawn' : 'unknown'] += 1
    if (this.#running !== undefined) this.#missed += 1
    const seconds = command.milliseconds / 1000
    command.reject(
      new Unavailable(
        isQueued
          ? `the writer was busy for ${seconds} s; the command was withdrawn and not executed`
          : `the writer did not answer for ${seconds} s; the outcome of the command is unknown`,
      ),
    )
  }

  /** The thread has ended. The outcome of its last commands is unknown; a new thread takes over. */
  #lose(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#lost += 1
    worker.terminate()
    this.#rejectAll(`the writer has failed: ${reason}`)
    this.#missed = 0
    this.#onEnd()
    this.#onIdle()
    if (!this.#closing) this.#openAgain()
  }

  #openAgain(): void {
    this.#open().catch(() => {
      if (!this.#closing) setTimeout(() => this.#openAgain(), REOPEN_MILLISECONDS)
    })
  }

  #rejectAll(reason: string): void {
    const left = [...(this.#running?.commands ?? []), ...this.#waiting]
    this.#running = undefined
    this.#waiting.clear()
    for (const command of left) {
      clearTimeout(command.timer)
      command.reject(new Unavailable(reason))
    }
  }

  get #isIdle(): boolean {
    return this.#running === undefined && this.#waiting.size === 0
  }
}

/** A malformed report counts as one without answers: the outcome is unknown to every caller. */
function readReport(message: string): WriterReport {
  try {
    return JSON.parse(message) as WriterReport
  } catch {
    return { answers: [] }
  }
}

function answer(command: Waiting, found: WriterAnswer | undefined): void {
  clearTimeout(command.timer)
  if (found === undefined) command.reject(new Unavailable('the writer returned no answer'))
  else if ('failure' in found) command.reject(asError(found))
  else command.resolve(found)
}

function asError({ failure, message }: Extract<WriterAnswer, { failure: string }>): Error {
  if (failure === 'Unavailable') return new Unavailable(message)
  if (failure === 'Conflict') return new Conflict(message)
  return new Error(message)
}

const endsInTime = (start: (onEnd: () => void) => void): Promise<boolean> =>
  withTimeout(
    CLOSE_MILLISECONDS,
    new Promise<void>(start).then(() => true),
    () => false,
  )
