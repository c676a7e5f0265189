/**
 * Connections to one server, and a line of those who wait for one. They are opened as they are needed. A server that takes
 * fewer than we may open, because of a limit of the role or of its own, makes the pool smaller for a while; it works with what
 * it has. A pool that has none at all is given one by another, so that neither reads nor writes starve.
 */
import { SQL } from 'bun'
import { Overloaded, Unavailable } from '../errors.ts'
import { Admission } from './admission.ts'

/** How long a pool stays smaller before it tries to open another connection. */
const SMALLER_MILLISECONDS = 10_000
/** How long a pool without any connection waits before it tries again. */
const NONE_MILLISECONDS = 500
/** How long it waits for a connection that another pool gives up. */
const GIVEN_MILLISECONDS = 100
const REPORT_MILLISECONDS = 10_000
const TOO_MANY_CONNECTIONS = '53300'

export interface ConnectionPoolOptions {
  readonly size: number
  /**
   * How much a connection is given at a time. More than one thing keeps it busy while the process is busy with others, and
   * suits single queries only.
   */
  readonly depth: number
  readonly maxWaitMilliseconds: number
  /** What is refused, for whoever reads the log. */
  readonly work: 'reads' | 'writes'
  /** Its work can be done elsewhere: without a connection it does not hurry to get one. */
  readonly isSpare?: boolean
  /** Makes one connection; it is opened when it is needed. */
  open(): SQL
  /** The server took no more than these. `isNews` once, until the pool is back at its size. */
  onFewer?(fewer: { connections: number; reason: string; isNews: boolean }): void
  /** Work is refused because too much is waiting. Called now and then while that lasts. */
  onRefusing?(): void
}

/** The server takes no more connections, and there is none to wait for. */
export class TooManyConnections extends Unavailable {}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions
  readonly #admission: Admission
  /** How much each of them is at; without end while it is being opened. */
  readonly #loads = new Map<SQL, number>()
  readonly #opening = new Set<Promise<unknown>>()
  #others: readonly ConnectionPool[] = []
  /** How many connections there may be at present. */
  #limit: number
  #isSmaller = false
  #noMoreUntil = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(options: ConnectionPoolOptions) {
    this.#options = options
    this.#limit = options.size
    const { size, depth, maxWaitMilliseconds, work } = options
    this.#admission = new Admission(size * depth, maxWaitMilliseconds, work)
  }

  /** Those named first give up a connection first when another pool has none. */
  static share(pools: readonly ConnectionPool[]): void {
    for (const pool of pools) pool.#others = pools.filter(each => each !== pool)
  }

  get inside(): number {
    return this.#admission.inside
  }

  get waiting(): number {
    return this.#admission.waiting
  }

  /** How many connections are open. */
  get open(): number {
    return this.#loads.size
  }

  /** Opens the first connection ahead of time. */
  async prepare(): Promise<void> {
    await this.run(async () => undefined).catch(() => undefined)
  }

  async run<T>(work: (connection: SQL) => Promise<T>, { urgent = false } = {}): Promise<T> {
    this.#growAgain()
    try {
      const ended = await this.#admission.run(
        async () => {
          const connection = await this.#acquire()
          return connection && { result: await this.#use(connection, work) }
        },
        { urgent },
      )
      // The pool has become smaller, and this has waited long enough to go first.
      return ended === undefined ? this.run(work, { urgent: true }) : ended.result
    } catch (error) {
      if (error instanceof Overloaded) this.#reportRefusal()
      throw error
    }
  }

  /** Closes connections that nobody uses, so that others may have them; they are opened again when they are needed. */
  closeIdle(): void {
    for (const [connection, load] of this.#loads) if (load === 0) this.#drop(connection)
  }

  async close(timeoutSeconds: number): Promise<void> {
    const all = [...this.#loads.keys()]
    await Promise.all(all.map(connection => connection.close({ timeout: timeoutSeconds })))
  }

  /** Undefined if there is none any more: then it is time to wait in line once more. */
  async #acquire(): Promise<SQL | undefined> {
    const { isSpare = false, maxWaitMilliseconds } = this.#options
    const deadline = performance.now() + (isSpare ? 0 : maxWaitMilliseconds)
    for (;;) {
      const connection = this.#leastBusy()
      const mayOpen = this.#loads.size < Math.max(1, this.#limit)
      if (connection !== undefined && (this.#loads.get(connection) === 0 || !mayOpen)) return connection
      if (this.#loads.size === 0 && performance.now() < this.#noMoreUntil) {
        // Another pool gives one up, or the server still counts one that was closed: that takes a while.
        if (this.#noMoreUntil > deadline) throw new TooManyConnections('PostgreSQL takes no more connections')
        await Bun.sleep(this.#noMoreUntil - performance.now())
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
      // It was lost, and the server does not take it back.
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

  /** Undefined if the server takes no more. */
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
      this.#becomeSmaller(error.message)
      return undefined
    } finally {
      this.#opening.delete(isSettled)
    }
    this.#loads.set(connection, 0)
    if (this.#limit === 0) this.#resize(1)
    if (this.#loads.size >= this.#options.size) this.#isSmaller = false
    return connection
  }

  #drop(connection: SQL): void {
    this.#loads.delete(connection)
    connection.close({ timeout: 0 }).catch(() => undefined)
  }

  #becomeSmaller(reason: string): void {
    const { isSpare = false, onFewer } = this.#options
    onFewer?.({ connections: this.#loads.size, reason, isNews: !this.#isSmaller })
    this.#isSmaller = true
    // It may have given one up meanwhile, and does not take that back.
    this.#resize(Math.min(this.#limit, this.#loads.size))
    const hasNone = this.#loads.size === 0 && !isSpare
    const isGiven = hasNone && this.#others.some(other => other.#giveUpOne())
    this.#noMoreUntil =
      performance.now() + (isGiven ? GIVEN_MILLISECONDS : hasNone ? NONE_MILLISECONDS : SMALLER_MILLISECONDS)
  }

  /** False if it has none to spare. */
  #giveUpOne(): boolean {
    // Those that are being opened may be refused.
    const open = [...this.#loads.values()].filter(Number.isFinite).length
    const left = Math.min(this.#limit, open) - 1
    if (left < (this.#options.isSpare ? 0 : 1)) return false
    this.#noMoreUntil = performance.now() + SMALLER_MILLISECONDS
    this.#resize(left)
    for (const [connection, load] of this.#loads) {
      if (load === 0 && this.#loads.size > left) this.#drop(connection)
    }
    return true
  }

  #resize(limit: number): void {
    this.#limit = limit
    // With none there is still somebody who finds out, and says so.
    this.#admission.resize(Math.max(1, limit) * this.#options.depth)
  }

  /** Tries one connection more, from time to time. */
  #growAgain(): void {
    if (this.#limit >= this.#options.size || this.#loads.size === 0) return
    const isBusy = this.#loads.size <= this.#limit && [...this.#loads.values()].every(load => load > 0)
    if (!isBusy || performance.now() < this.#noMoreUntil) return
    this.#noMoreUntil = performance.now() + SMALLER_MILLISECONDS
    this.#resize(this.#limit + 1)
  }

  #reportRefusal(): void {
    const now = performance.now()
    if (now - this.#reportedAt < REPORT_MILLISECONDS) return
    this.#reportedAt = now
    this.#options.onRefusing?.()
  }
}

/** Whether this is what the server says when it takes no more connections. */
export function isTooManyConnections(error: unknown): error is Error {
  return error instanceof SQL.PostgresError && String(error.errno) === TOO_MANY_CONNECTIONS
}
