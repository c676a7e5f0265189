/**
 * A transaction that ends with the deadline of its command. The server cancels a statement that is still running then, so
 * that nothing is left behind of a write that was answered with 503. It never cancels the commit: a commit that is
 * cancelled while it waits for a standby is reported as a success.
 */
import type { ReservedSQL, SQL } from 'bun'
import { Unavailable } from '../errors.ts'

/** How far the timeout of a statement may be from the deadline. */
const RENEWAL_MILLISECONDS = 100

export interface TransactionLimits {
  /** When its last statement before the commit has to end, on the monotonic clock. */
  readonly deadline: number
  /** How long a statement waits for a lock. */
  readonly lockMilliseconds: number
  /** Whether its commit waits for the disk and the standbys. */
  readonly durable: boolean
}

export class PostgresTransaction {
  readonly #connection: ReservedSQL
  readonly #deadline: number
  #renewedAt: number

  private constructor(connection: ReservedSQL, deadline: number) {
    this.#connection = connection
    this.#deadline = deadline
    this.#renewedAt = performance.now()
  }

  /** Does the work in one transaction. `isCommitting` is called before the commit, the last time that it can be given up. */
  static async run<T>(
    connection: SQL,
    limits: TransactionLimits,
    work: (tx: PostgresTransaction) => Promise<T>,
    isCommitting: () => void = () => undefined,
  ): Promise<T> {
    requireTimeUntil(limits.deadline)
    // The connection that is reserved is not replaced if it is lost: the statements behind fail too.
    const reserved = await connection.reserve()
    try {
      const tx = new PostgresTransaction(reserved, limits.deadline)
      await reserved.unsafe(beginWith(limits))
      try {
        const done = await work(tx)
        requireTimeUntil(limits.deadline)
        isCommitting()
        await reserved.unsafe('set local statement_timeout = 0; commit')
        return done
      } catch (error) {
        await reserved.unsafe('rollback').catch(() => undefined)
        throw error
      }
    } finally {
      reserved.release()
    }
  }

  /** Sends a statement. Those sent without waiting run one after another. */
  async unsafe(text: string, values: unknown[]): Promise<StatementResult> {
    const now = performance.now()
    requireTimeUntil(this.#deadline)
    if (now - this.#renewedAt > RENEWAL_MILLISECONDS) {
      this.#renewedAt = now
      this.#set('statement_timeout', this.#deadline - now)
    }
    return this.#connection.unsafe(text, values)
  }

  /** Lets the next statements wait longer for locks. */
  setLockTimeout(milliseconds: number): void {
    this.#set('lock_timeout', Math.min(milliseconds, this.#deadline - performance.now()))
  }

  /** Sent ahead of the next statement, which fails too if this does. */
  #set(name: string, milliseconds: number): void {
    this.#connection
      .unsafe('select set_config($1, $2, true)', [name, String(asTimeout(milliseconds))])
      .catch(() => undefined)
  }
}

/** The rows, and how many a statement has changed. */
export type StatementResult = readonly unknown[] & { readonly count?: number | null }

function requireTimeUntil(deadline: number): void {
  if (performance.now() >= deadline) throw new Unavailable('PostgreSQL took too long')
}

/** A timeout as PostgreSQL takes it: at least 1, because 0 disables the timeout. */
const asTimeout = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds))

/** Begins a transaction and sets its timeouts, in one round trip. */
function beginWith({ deadline, lockMilliseconds, durable }: TransactionLimits): string {
  const timeout = asTimeout(deadline - performance.now())
  const lockTimeout = Math.min(asTimeout(lockMilliseconds), timeout)
  const commit = durable ? '' : '; set local synchronous_commit = off'
  return `begin; set local statement_timeout = ${timeout}; set local lock_timeout = ${lockTimeout}${commit}`
}
