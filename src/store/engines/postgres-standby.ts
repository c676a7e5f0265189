/**
 * Reads on one standby. A connection answers a read only if it has reported that the server has replayed the log to the
 * position of that read. The report counts for this connection alone: a server that was restarted in between may have
 * replayed less than before, and has lost all its connections.
 *
 * The report comes from an earlier statement. The read could not check the position itself: its snapshot is taken before it
 * is evaluated.
 */
import type { SQL } from 'bun'
import { hostIn } from '../../kit/connection-url.ts'
import { inTime } from '../../kit/in-time.ts'
import { Overloaded, Unavailable } from '../errors.ts'
import { ConnectionPool } from './connection-pool.ts'
import { replayedPosition } from './log-position.ts'
import { isConflictWithRecovery } from './postgres-connection.ts'
import { connect, READS_AT_ONCE } from './postgres-pools.ts'
import { hasReached, type Position } from './standby-choice.ts'

/** After that the primary gets the read, which has time left. */
const READ_MILLISECONDS = 1000
const QUEUE_MILLISECONDS = 500
/** How long a read waits until the log has been replayed. Usually that takes a few milliseconds. */
const REPLAY_MILLISECONDS = 50
const REPLAY_PAUSE_MILLISECONDS = 2
/** How long a standby is not used after a failure. */
const REST_MILLISECONDS = 2000

export const FALLBACKS = ['behind', 'conflict', 'overloaded', 'failed'] as const
/** Why a standby did not answer a read. */
export type Fallback = (typeof FALLBACKS)[number]

/** The standby has not replayed enough in time. */
class Behind extends Unavailable {}

export class Standby {
  readonly host: string
  readonly #url: string
  readonly #size: number
  readonly #sessions = new WeakMap<SQL, Session>()
  #pool: ConnectionPool | undefined
  #restsUntil = Number.NEGATIVE_INFINITY
  #awaited = -1n

  constructor(url: string, connections: number) {
    this.host = hostIn(url)
    this.#url = url
    this.#size = connections
  }

  get restsUntil(): number {
    return this.#restsUntil
  }

  get awaited(): bigint {
    return this.#awaited
  }

  get running(): number {
    return this.#pool?.running ?? 0
  }

  get open(): number {
    return this.#pool?.open ?? 0
  }

  /** Answers a read with everything up to the position, or throws. */
  async read<T>(
    position: Position,
    query: (connection: SQL) => Promise<T>,
    { urgent = false } = {},
  ): Promise<T> {
    this.#pool ??= this.#openPool()
    const pool = this.#pool
    const answer = pool.run(connection => this.#readOn(connection, position, query), { urgent })
    try {
      return await inTime(READ_MILLISECONDS, answer, () => {
        throw new Unavailable('the standby took too long')
      })
    } catch (error) {
      const fallback = fallbackOf(error)
      if (fallback === 'behind') this.#awaited = position.lsn
      if (fallback !== 'overloaded') this.#restsUntil = performance.now() + REST_MILLISECONDS
      // Its connections are lost or hang.
      if (fallback === 'failed' && this.#pool === pool) this.release()
      throw error
    }
  }

  /** Closes all connections. They are opened again on demand. */
  release(): void {
    this.#pool?.close(0).catch(() => undefined)
    this.#pool = undefined
  }

  #openPool(): ConnectionPool {
    return new ConnectionPool({
      work: 'reads',
      size: this.#size,
      depth: READS_AT_ONCE,
      maxWaitMilliseconds: QUEUE_MILLISECONDS,
      // Without a connection the primary is the faster choice.
      isOptional: true,
      open: () => {
        const session = new Session()
        const settings = { statement_timeout: READ_MILLISECONDS }
        const connection = connect(this.#url, false, settings, () => {
          session.isLost = true
        })
        this.#sessions.set(connection, session)
        return connection
      },
    })
  }

  async #readOn<T>(connection: SQL, position: Position, query: (connection: SQL) => Promise<T>): Promise<T> {
    const session = this.#sessions.get(connection)
    await session?.reach(connection, position)
    const answer = await query(connection)
    // Otherwise a new connection may have answered, to a server that was restarted.
    if (session?.isLost !== false) throw new Unavailable('the connection to the standby was lost')
    return answer
  }
}

/** What one connection to a standby has reported. */
class Session {
  isLost = false
  #replayed: Position = { lsn: -1n, mark: '' }
  #asking: Promise<void> | undefined

  /** Waits until the position has been replayed. */
  async reach(connection: SQL, position: Position): Promise<void> {
    const deadline = performance.now() + REPLAY_MILLISECONDS
    while (!hasReached(this.#replayed, position)) {
      this.#asking ??= this.#ask(connection)
      await this.#asking
      if (hasReached(this.#replayed, position)) return
      if (performance.now() > deadline) throw new Behind('the standby is behind')
      await Bun.sleep(REPLAY_PAUSE_MILLISECONDS)
    }
  }

  /** Reads that wait share a question. */
  async #ask(connection: SQL): Promise<void> {
    try {
      this.#replayed = await replayedPosition(connection)
    } finally {
      this.#asking = undefined
    }
  }
}

export function fallbackOf(error: unknown): Fallback {
  if (error instanceof Behind) return 'behind'
  if (error instanceof Overloaded) return 'overloaded'
  return isConflictWithRecovery(error) ? 'conflict' : 'failed'
}
