/**
 * Commands on PostgreSQL. A command is a transaction, retried after a conflict. Those that may share one do: many changes of
 * streams and channels then pass the head of the feed together, and wait once for the disk and the standbys.
 *
 * If a group fails because of one of its commands, nothing of it is written, and each command runs alone. If it fails
 * because of the server, or at its end, all of them are answered as one would be.
 *
 * A row that another session keeps locked delays only those who need it. A command waits for a lock for a fraction of a
 * second, then gives its connection back and tries again, and only a part of the connections is used for such retries.
 * At the end of a command, what it waits for is held by commits, which all of them need: there it waits longer.
 */
import type { SQL } from 'bun'
import { Histogram } from '../../kit/telemetry/histogram.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { type CommandName, groupedUser } from '../command-list.ts'
import { WRITE_MILLISECONDS, writeMilliseconds } from '../engine/deadlines.ts'
import { type Job, runCommand, runGroup, type Writable } from '../engine/run-command.ts'
import type { CommandOutcome } from '../engine.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { isLockTimeout, postgresDatabase, translatePostgresError } from './postgres-connection.ts'
import { LOCK_MILLISECONDS, type Pools, poolSizes } from './postgres-pools.ts'
import { PostgresTransaction, type TransactionLimits } from './postgres-transaction.ts'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

const MAX_ATTEMPTS = 5
/** How long a command keeps its connection while another transaction has locked a row. One that takes long waits longer. */
const LOCK_ATTEMPT_MILLISECONDS = 100
/** The share of the connections that may wait for rows whose lock was not released in that time. */
const BLOCKED_SHARE = 0.4
/** A commit that took longer has waited for a standby, and is verified. */
const SLOW_COMMIT_MILLISECONDS = 300
const MAX_GROUP = 256
/** How long a command waits for its group, and a group for the one before it. */
const GROUP_QUEUE_MILLISECONDS = 1000
const GROUP_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, MAX_GROUP] as const

/**
 * Commands that may be lost in a crash: leased points are then full again. Their commits wait neither for the disk nor for a
 * standby, and they have a separate connection.
 */
const NOT_DURABLE: ReadonlySet<CommandName> = new Set(['leasePoints'])

interface PendingJob extends Job {
  /** When its caller stops waiting, on the monotonic clock. */
  readonly deadline: number
}

/** The limits of a transaction, and whether only the ends of the audit log and the feed were left to write. */
interface Attempt extends TransactionLimits {
  isAppending: boolean
}

export class PostgresCommands {
  /** The groups that commit on the current primary. */
  #groups: { readonly pools: Pools; readonly commit: GroupCommit<PendingJob> } | undefined
  readonly #blocked: WorkQueue
  readonly #groupSizes = new Histogram(GROUP_SIZES)
  #retries = 0
  #lockWaits = 0

  constructor(options: { readonly connections: number }) {
    const places = Math.max(1, Math.floor(poolSizes(options).writing * BLOCKED_SHARE))
    this.#blocked = createWorkQueue(places, LOCK_MILLISECONDS)
  }

  async run(pools: Pools, job: Job, deadline: number): Promise<CommandOutcome> {
    const pending = { ...job, deadline }
    if (NOT_DURABLE.has(job.name)) return this.#runAlone(pools.leasing, pending, false)
    if (groupedUser(job) === undefined) return this.#runAlone(pools.writing, pending)
    return (await this.#groupsOn(pools).ask(pending)) ?? this.#runAlone(pools.writing, pending)
  }

  measure(metrics: Metrics): void {
    metrics.counter('strand_postgres_reruns_total', 'Transactions retried after a conflict.', this.#retries)
    metrics.counter(
      'strand_postgres_lock_waits_total',
      'Transactions given up and retried because another session had locked a row.',
      this.#lockWaits,
    )
    metrics.gauge(
      'strand_postgres_writes_blocked',
      'Writes waiting for rows that another session has locked.',
      this.#blocked.running + this.#blocked.waiting,
    )
    metrics.gauge(
      'strand_postgres_group_waiting',
      'Changes of streams and channels, and claims of drops, waiting for their group.',
      this.#groups?.commit.waiting ?? 0,
    )
    metrics.histogram(
      'strand_postgres_group_size',
      'Changes of streams and channels, and claims of drops, committed together.',
      this.#groupSizes,
    )
  }

  #groupsOn(pools: Pools): GroupCommit<PendingJob> {
    if (this.#groups?.pools !== pools) {
      const commit = createGroupCommit<PendingJob>(
        jobs => this.#runTogether(pools.writing, jobs),
        MAX_GROUP,
        GROUP_QUEUE_MILLISECONDS,
      )
      this.#groups = { pools, commit }
    }
    return this.#groups.commit
  }

  /** The outcome of each command; undefined for a command that has to run alone. */
  async #runTogether(
    pool: ConnectionPool,
    jobs: readonly PendingJob[],
  ): Promise<readonly (CommandOutcome | undefined)[]> {
    this.#groupSizes.note(jobs.length)
    const [job] = jobs
    const single = jobs.length === 1 ? job : undefined
    const attempt = newAttempt(Math.min(...jobs.map(each => each.deadline)))
    try {
      return await pool.run(async connection =>
        single === undefined
          ? this.#commit(connection, attempt, (db, beforeAppending) => runGroup(db, jobs, beforeAppending))
          : [await this.#retryConflicts(connection, attempt, single)],
      )
    } catch (thrown) {
      const isOfServer = translatePostgresError(thrown) instanceof Unavailable
      // A row that one of them needs is locked. At the end of a group only what all of them need is.
      const isBlocked = isLockTimeout(thrown) && !attempt.isAppending
      if (!isBlocked && (isOfServer || single !== undefined)) throw thrown
      this.#retries += 1
      return jobs.map(() => undefined)
    }
  }

  /** If a row that the command needs is locked, tries again for a while. */
  async #runAlone(pool: ConnectionPool, job: PendingJob, durable = true): Promise<CommandOutcome> {
    const isLong = writeMilliseconds(job.name) > WRITE_MILLISECONDS
    const attempt = newAttempt(job.deadline, durable, isLong ? LOCK_MILLISECONDS : LOCK_ATTEMPT_MILLISECONDS)
    const run = () => pool.run(connection => this.#retryConflicts(connection, attempt, job))
    let blockedSince: number | undefined
    for (;;) {
      try {
        return await (blockedSince === undefined ? run() : this.#blocked.run({}, run))
      } catch (thrown) {
        if (!isLockTimeout(thrown) || attempt.isAppending) throw thrown
        const now = performance.now()
        blockedSince ??= now - attempt.lockMilliseconds
        const giveUpAt = Math.min(blockedSince + LOCK_MILLISECONDS, job.deadline)
        if (now + attempt.lockMilliseconds > giveUpAt) throw thrown
        this.#lockWaits += 1
      }
    }
  }

  async #retryConflicts(connection: SQL, attempt: Attempt, job: Job): Promise<CommandOutcome> {
    for (let number = 1; ; number++) {
      try {
        return await this.#commit(connection, attempt, (db, beforeAppending) =>
          runCommand(db, job, beforeAppending),
        )
      } catch (thrown) {
        const isConflict = translatePostgresError(thrown) instanceof Conflict
        if (!isConflict || number === MAX_ATTEMPTS) throw thrown
        this.#retries += 1
      }
    }
  }

  /** Does the work in one transaction. */
  async #commit<T>(
    connection: SQL,
    attempt: Attempt,
    work: (db: Writable, beforeAppending: () => void) => Promise<T>,
  ): Promise<T> {
    let finishedAt = Number.POSITIVE_INFINITY
    attempt.isAppending = false
    const done = await PostgresTransaction.run(
      connection,
      attempt,
      tx =>
        work(postgresDatabase(tx), () => {
          attempt.isAppending = true
          tx.setLockTimeout(LOCK_MILLISECONDS)
        }),
      () => {
        finishedAt = performance.now()
      },
    )
    const isSlow = performance.now() - finishedAt > SLOW_COMMIT_MILLISECONDS
    if (attempt.durable && isSlow) await confirmCommit(connection)
    return done
  }
}

function newAttempt(deadline: number, durable = true, lockMilliseconds = LOCK_ATTEMPT_MILLISECONDS): Attempt {
  return { deadline, durable, lockMilliseconds, isAppending: false }
}

/**
 * If a commit is cancelled while it waits for a standby, PostgreSQL reports success with a warning that our client does not
 * expose. The log is replicated in order: once a later commit has been replicated, so have all before it.
 */
async function confirmCommit(connection: SQL): Promise<void> {
  await connection.unsafe('update feed_head set id = 1 where id = 1')
}
