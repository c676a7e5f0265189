/**
 * Commands on PostgreSQL. A command is a transaction, retried after a conflict. Those that may share one do: many starts and
 * ends of streams then pass the head of the feed together, and wait once for the disk and the standbys.
 *
 * If a group fails because of one of its commands, nothing of it is written, and each command runs alone. If it fails
 * because of the server, or at its end, all of them are answered as one would be.
 */
import type { SQL } from 'bun'
import { Histogram } from '../../kit/histogram.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { type CommandName, channelOf } from '../command-list.ts'
import type { CommandOutcome } from '../engine.ts'
import { Conflict, Unavailable } from '../errors.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { GroupCommit } from './group-commit.ts'
import { isLockTimeout, postgresDatabase, translatePostgresError } from './postgres-connection.ts'
import { LOCK_MILLISECONDS, type Pools, WRITE_QUEUE_MILLISECONDS } from './postgres-pools.ts'
import { type Job, runCommand, runGroup, type Writable } from './run-command.ts'

const MAX_ATTEMPTS = 5
/** A commit that took longer has waited for a standby, and is verified. */
const SLOW_COMMIT_MILLISECONDS = 300
const MAX_GROUP = 256
const GROUP_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, MAX_GROUP] as const

/**
 * Commands that may be lost in a crash: leased points are then full again. Their commits wait neither for the disk nor for a
 * standby, and they have a separate connection.
 */
const NOT_DURABLE: ReadonlySet<CommandName> = new Set(['leasePoints'])

export class PostgresCommands {
  /** Whether a pooler assigns connections per transaction. */
  readonly #pooled: boolean
  /** Of the current primary. */
  #groups: { readonly pools: Pools; readonly commit: GroupCommit } | undefined
  readonly #groupSizes = new Histogram(GROUP_SIZES)
  #retries = 0

  constructor({ pooled }: { readonly pooled: boolean }) {
    this.#pooled = pooled
  }

  async run(pools: Pools, job: Job): Promise<CommandOutcome> {
    if (NOT_DURABLE.has(job.name)) return this.#runAlone(pools.leasing, job, { durable: false })
    if (channelOf(job) === undefined) return this.#runAlone(pools.writing, job)
    return (await this.#groupsOn(pools).run(job)) ?? this.#runAlone(pools.writing, job)
  }

  measure(metrics: Metrics): void {
    metrics.counter('strand_postgres_reruns_total', 'Transactions retried after a conflict.', this.#retries)
    metrics.gauge(
      'strand_postgres_group_waiting',
      'Starts and ends of streams waiting for their group.',
      this.#groups?.commit.waiting ?? 0,
    )
    metrics.histogram(
      'strand_postgres_group_size',
      'Starts and ends of streams committed together.',
      this.#groupSizes,
    )
  }

  #groupsOn(pools: Pools): GroupCommit {
    if (this.#groups?.pools !== pools) {
      const commit = new GroupCommit(
        jobs => this.#runTogether(pools.writing, jobs),
        MAX_GROUP,
        WRITE_QUEUE_MILLISECONDS,
      )
      this.#groups = { pools, commit }
    }
    return this.#groups.commit
  }

  /** The outcome of each; undefined for one that has to run alone. */
  async #runTogether(
    pool: ConnectionPool,
    jobs: readonly Job[],
  ): Promise<readonly (CommandOutcome | undefined)[]> {
    this.#groupSizes.note(jobs.length)
    const [job] = jobs
    if (job !== undefined && jobs.length === 1) return [await this.#runAlone(pool, job)]
    let isAppending = false
    const run = (db: Writable) =>
      runGroup(db, jobs, () => {
        isAppending = true
      })
    try {
      return await pool.run(connection => this.#commit(connection, run))
    } catch (thrown) {
      const isOfServer = translatePostgresError(thrown) instanceof Unavailable
      // A row that one of them needs is locked. At the end of a group only what all of them need is.
      const isOfOne = !isOfServer || (isLockTimeout(thrown) && !isAppending)
      if (!isOfOne) throw thrown
      this.#retries += 1
      return jobs.map(() => undefined)
    }
  }

  #runAlone(pool: ConnectionPool, job: Job, { durable = true } = {}): Promise<CommandOutcome> {
    return pool.run(async connection => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#commit(connection, db => runCommand(db, job), { durable })
        } catch (thrown) {
          const isConflict = translatePostgresError(thrown) instanceof Conflict
          if (!isConflict || attempt === MAX_ATTEMPTS) throw thrown
          this.#retries += 1
        }
      }
    })
  }

  /** Does the work in one transaction. */
  async #commit<T>(connection: SQL, work: (db: Writable) => Promise<T>, { durable = true } = {}): Promise<T> {
    let finishedAt = Number.POSITIVE_INFINITY
    const done = await connection.begin(async tx => {
      if (this.#pooled) await tx.unsafe(`set local lock_timeout = ${LOCK_MILLISECONDS}`)
      if (!durable) await tx.unsafe('set local synchronous_commit = off')
      const done = await work(postgresDatabase(tx))
      finishedAt = performance.now()
      return done
    })
    if (durable && performance.now() - finishedAt > SLOW_COMMIT_MILLISECONDS) await confirmCommit(connection)
    return done
  }
}

/**
 * If a commit is cancelled while it waits for a standby, PostgreSQL reports success with a warning that our client does not
 * expose. The log is replicated in order: once a later commit has been replicated, so have all before it.
 */
async function confirmCommit(connection: SQL): Promise<void> {
  await connection.unsafe('update feed_head set id = 1 where id = 1')
}
