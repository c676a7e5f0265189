/**
 * A pool of connections to one server, with a queue of waiting work. Connections are opened on demand. If the server accepts
 * fewer than configured, because of its limit or that of the role, the pool shrinks for a while and works with the open ones.
 * A pool without any connection gets one from another pool, so that neither reads nor writes starve.
 */
import { SQL } from 'bun'
import { Overloaded, Unavailable } from '../errors.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

/** How long a reduced pool waits before it tries to open another connection. */
const REDUCED_MILLISECONDS = 10_000
/** How long a pool without any connection waits before it tries again. */
const EMPTY_MILLISECONDS = 500
/** How long it waits for a connection that another pool releases. */
const HANDOVER_MILLISECONDS = 100
const REPORT_MILLISECONDS = 10_000
const TOO_MANY_CONNECTIONS = '53300'

export interface ConnectionPoolOptions {
  readonly size: number
  /**
   * How many operations share a connection at a time. More than one keeps it busy while this process is busy; this suits
   * single queries only.
   */
  readonly depth: number
  readonly maxWaitMilliseconds: number
  /** For error messages. */
  readonly work: 'reads' | 'writes'
  /** Without a connection its work fails at once instead of waiting for one. */
  readonly isOptional?: boolean
  /** Creates a connection, which is opened on first use. */
  open(): SQL
  /** The server accepts no more than these connections. `isFirst` once, until the pool has its full size again. */
  onReduced?(reduced: { connections: number; reason: string; isFirst: boolean }): void
  /** Work is refused because too much is waiting. Called every few seconds while that lasts. */
  onOverload?(): void
}

/** The server accepts no more connections, and the pool has none to wait for. */
export class TooManyConnections extends Unavailable {}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  readonly #queue: WorkQueue
  /** Running operations by connection; infinite while it is being opened. */
  readonly #loads = new Map<SQL, number>()
  readonly #opening = new Set<Promise<unknown>>()
  #others: readonly ConnectionPool[] = []
  /** The current maximum number of connections. */
  #limit: number
  #isReduced = false
  #noOpenUntil = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
    this.#limit = options.size
    const { size, depth, maxWaitMilliseconds, work } = options
    this.#queue = createWorkQueue(size * depth, maxWaitMilliseconds, work)
  }

  /** When a pool has no connection, the others release one, in this order. */
  static share(pools: readonly ConnectionPool[]): void {
    for (const pool of pools) pool.#others = pools.filter(each => each !== pool)
  }

  get running(): number {
    return this.#queue.running
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  /** The number of open connections. */
  get open(): number {
    return this.#loads.size
  }

  /** Opens the first connection ahead of time. */
  async prepare(): Promise<void> {
    await this.run(async () => undefined).catch(() => undefined)
  }

  async run<T>(work: (connection: SQL) => Promise<T>, { urgent = false } = {}): Promise<T> {
    this.#growSlowly()
    try {
      const ended = await this.#queue.run({ urgent }, async () => {
        const connection = await this.#acquire()
        return connection && { result: await this.#use(connection, work) }
      })
      // The pool has shrunk. This has waited already, so it goes first.
      return ended === undefined ? this.run(work, { urgent: true }) : ended.result
    } catch (error) {
      if (error instanceof Overloaded) this.#reportOverload()
      throw error
    }
  }

  /** Closes idle connections, to free them for others. They are opened again on demand. */
  closeIdle(): void {
    for (const [connection, load] of this.#loads) if (load === 0) this.#drop(connection)
  }

  async close(timeoutSeconds: number): Promise<void> {
    const all = [...this.#loads.keys()]
    await Promise.all(all.map(connection => connection.close({ timeout: timeoutSeconds })))
  }

  /** Undefined if no connection is left for this work: it has to queue again. */
  async #acquire(): Promise<SQL | undefined> {
    const { isOptional = false, maxWaitMilliseconds } = this.#options
    const deadline = performance.now() + (isOptional ? 0 : maxWaitMilliseconds)
    for (;;) {
      const connection = this.#leastBusy()
      const mayOpen = this.#loads.size < Math.max(1, this.#limit)
      if (connection !== undefined && (this.#loads.get(connection) === 0 || !mayOpen)) return connection
      if (this.#loads.size === 0 && performance.now() < this.#noOpenUntil) {
        // Another pool releases a connection, or the server still counts a closed one.
        if (this.#noOpenUntil > deadline)
          throw new TooManyConnections('PostgreSQL accepts no more connections')
        await Bun.sleep(this.#noOpenUntil - performance.now())
      } else if (mayOpen) {
        const opened = await this.#connect()
        if (opened !== undefined || this.#loads.size > 0) return opened
      } else await Promise.race(this.#opening)
    }
  }

  /** Undefined if none is open. */
  #leastBusy(): SQL | undefined {
    let [found, least] = [undefined as SQL | undefined, Number.POSITIVE_INFINITY]
    for (const [connection, load] of this.#loads) {
      if (load < least) [found, least] = [connection, load]
    }
    return found
  }

  async #use<T>(connection: SQL, work: (connection: SQL) => Promise<T>): Promise<T> {
    this.#count(connection, 1)
    try {
      return await work(connection)
    } catch (error) {
      // It was lost, and the server does not accept it again.
      if (isTooManyConnections(error)) this.#drop(connection)
      throw error
    } finally {
      this.#count(connection, -1)
      if (this.#loads.get(connection) === 0 && this.#loads.size > this.#limit) this.#drop(connection)
    }
  }

  #count(connection: SQL, change: 1 | -1): void {
    const load = this.#loads.get(connection)
    if (load !== undefined) this.#loads.set(connection, load + change)
  }

  /** Undefined if the server accepts no more connections. */
  async #connect(): Promise<SQL | undefined> {
    const connection = this.#options.open()
    this.#loads.set(connection, Number.POSITIVE_INFINITY)
    const opening = connection.connect()
    const isSettled = opening.catch(() => undefined)
    this.#opening.add(isSettled)
    try {
      await opening
    } catch (error) {
      this.#drop(connection)
      if (!isTooManyConnections(error)) throw error
      this.#shrink(error.message)
      return undefined
    } finally {
      this.#opening.delete(isSettled)
    }
    this.#loads.set(connection, 0)
    if (this.#limit === 0) this.#resize(1)
    if (this.#loads.size >= this.#options.size) this.#isReduced = false
    return connection
  }

  #drop(connection: SQL): void {
    this.#loads.delete(connection)
    connection.close({ timeout: 0 }).catch(() => undefined)
  }

  #shrink(reason: string): void {
    const { isOptional = false, onReduced } = this.#options
    onReduced?.({ connections: this.#loads.size, reason, isFirst: !this.#isReduced })
    this.#isReduced = true
    // It may have released one meanwhile; that must not be undone here.
    this.#resize(Math.min(this.#limit, this.#loads.size))
    const hasNone = this.#loads.size === 0 && !isOptional
    const isReleased = hasNone && this.#others.some(other => other.#releaseOne())
    this.#noOpenUntil =
      performance.now() +
      (isReleased ? HANDOVER_MILLISECONDS : hasNone ? EMPTY_MILLISECONDS : REDUCED_MILLISECONDS)
  }

  /** False if it has none to spare. */
  #releaseOne(): boolean {
    // A connection that is being opened may still be rejected.
    const open = [...this.#loads.values()].filter(Number.isFinite).length
    const left = Math.min(this.#limit, open) - 1
    if (left < (this.#options.isOptional ? 0 : 1)) return false
    this.#noOpenUntil = performance.now() + REDUCED_MILLISECONDS
    this.#resize(left)
    for (const [connection, load] of this.#loads) {
      if (load === 0 && this.#loads.size > left) this.#drop(connection)
    }
    return true
  }

  #resize(limit: number): void {
    this.#limit = limit
    // Even without a connection, one operation is admitted, to find that out and report it.
    this.#queue.resize(Math.max(1, limit) * this.#options.depth)
  }

  /** Allows one more connection from time to time. */
  #growSlowly(): void {
    if (this.#limit >= this.#options.size || this.#loads.size === 0) return
    const isBusy = this.#loads.size <= this.#limit && [...this.#loads.values()].every(load => load > 0)
    if (!isBusy || performance.now() < this.#noOpenUntil) return
    this.#noOpenUntil = performance.now() + REDUCED_MILLISECONDS
    this.#resize(this.#limit + 1)
  }

  #reportOverload(): void {
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_MILLISECONDS) return
    this.#reportedAt = now
    this.#options.onOverload?.()
  }
}

/** Whether the server rejected a connection because there are too many. */
export function isTooManyConnections(error: unknown): error is Error {
  return error instanceof SQL.PostgresError && String(error.errno) === TOO_MANY_CONNECTIONS
}
