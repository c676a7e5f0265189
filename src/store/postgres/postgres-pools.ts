/** The connection pools of the primary, by kind of work. */
import { SQL } from 'bun'
import { hostIn } from '../../kit/connection-url.ts'
import type { Log } from '../../kit/telemetry/log.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { ConnectionPool, type ConnectionPoolOptions } from './connection-pool.ts'

export const READ_MILLISECONDS = 3000
/** How long a write waits for a row lock. */
export const LOCK_MILLISECONDS = 2000
/** How long a transaction may wait for its process. One that hangs, or was stopped, would keep its locks from all others. */
const IDLE_MILLISECONDS = 5000
/**
 * How long work waits for a connection; with the search for the primary, that is within its deadline. Waiting is free, but
 * clients that are refused retry at once, which costs almost as much as answering them.
 */
const QUEUE_MILLISECONDS = 2000
/** How many reads share a connection, so that it is not idle while this process is busy. */
const READ_CONCURRENCY = 16
/** How long opening the first connections to a new primary may delay work. */
export const PREPARE_MILLISECONDS = 1000

const POOLS = ['reading', 'writing', 'reserved', 'leasing'] as const
type PoolName = (typeof POOLS)[number]

/** Session settings of a connection. */
type Session = Readonly<Record<string, number>>

/** The server cancels slow reads and long waits for row locks, but no commit; transactions set further timeouts. */
const READS: Session = { statement_timeout: READ_MILLISECONDS }
/**
 * Its few statements find rows along indexes, also if they were planned while a table was almost empty: the connection keeps
 * its plans, and tables grow long before they are analyzed again.
 */
const RESERVED: Session = { ...READS, enable_seqscan: 0, enable_bitmapscan: 0, enable_sort: 0 }
const WRITES: Session = {
  statement_timeout: 0,
  lock_timeout: LOCK_MILLISECONDS,
  idle_in_transaction_session_timeout: IDLE_MILLISECONDS,
}

export interface PoolOptions {
  readonly connections: number
  /** Whether a pooler in front of the servers assigns connections per transaction. */
  readonly pooled: boolean
  readonly log?: Log | undefined
}

/**
 * Reads and writes have separate connections, because a write keeps its connection while it waits for a standby. `reserved`
 * is one connection for reads that must not wait for others: the feed, readiness, and the search for due messages. `leasing` is one for leases of rate
 * limits, so that they do not delay writes.
 */
export interface Pools extends Readonly<Record<PoolName, ConnectionPool>> {
  readonly host: string
  /** A separate connection for long work, by default for reads; the caller closes it. */
  connectSeparately(session?: Session): SQL
}

/** Opens the first connection of each pool before any pool opens more: the server may not accept all of them. */
export async function openPools(url: string, options: PoolOptions, onRefused: () => void): Promise<Pools> {
  const { pooled, log } = options
  const sizes = poolSizes(options)
  const createPool = (
    name: PoolName,
    work: ConnectionPoolOptions['work'],
    session: Session,
    isOptional = false,
  ) =>
    new ConnectionPool({
      work,
      isOptional,
      size: sizes[name],
      open: () => connect(url, pooled, session),
      depth: work === 'reads' ? READ_CONCURRENCY : 1,
      maxWaitMilliseconds: QUEUE_MILLISECONDS,
      onReduced: ({ isFirst, ...reduced }) => {
        onRefused()
        if (!isFirst) return
        log?.warn(
          { pool: name, ...reduced, wanted: sizes[name] },
          'PostgreSQL accepts fewer connections than configured; continuing with the open ones',
        )
      },
      onOverload: () =>
        log?.warn({ pool: name }, 'PostgreSQL is overloaded; rejecting some requests with 503'),
    })
  const pools: Pools = {
    host: hostIn(url),
    reading: createPool('reading', 'reads', READS),
    writing: createPool('writing', 'writes', WRITES),
    reserved: createPool('reserved', 'reads', RESERVED, true),
    leasing: createPool('leasing', 'writes', WRITES, true),
    connectSeparately: (session = READS) => connect(url, pooled, session),
  }
  ConnectionPool.share([pools.leasing, pools.reserved, pools.writing, pools.reading])
  const prepare = async () => {
    for (const pool of [pools.reading, pools.writing, pools.reserved]) await pool.prepare()
  }
  await Promise.race([prepare(), Bun.sleep(PREPARE_MILLISECONDS)])
  return pools
}

export const listPools = (pools: Pools): ConnectionPool[] => POOLS.map(name => pools[name])

export function measurePools(metrics: Metrics, options: PoolOptions, pools: Pools | undefined): void {
  const sizes = poolSizes(options)
  const each = (of: (name: PoolName) => number | undefined) =>
    POOLS.map(pool => [{ pool }, of(pool) ?? 0] as const)
  metrics.gauge(
    'strand_postgres_connections_max',
    'Maximum number of connections of a pool.',
    each(name => sizes[name]),
  )
  metrics.gauge(
    'strand_postgres_connections',
    'Open connections of a pool.',
    each(name => pools?.[name].open),
  )
  metrics.gauge(
    'strand_postgres_queries_in_progress',
    'Queries and writes in progress.',
    each(name => pools?.[name].running),
  )
  metrics.gauge(
    'strand_postgres_reads_waiting',
    'Reads waiting for a connection.',
    pools?.reading.waiting ?? 0,
  )
  metrics.gauge(
    'strand_postgres_writes_waiting',
    'Writes waiting for a connection.',
    pools?.writing.waiting ?? 0,
  )
}

export function poolSizes({ connections }: Pick<PoolOptions, 'connections'>): Record<PoolName, number> {
  const writing = Math.ceil(connections / 2)
  return { reading: Math.max(1, connections - writing), writing, reserved: 1, leasing: 1 }
}

/** One connection, opened on first use, and again after it was lost. */
export function connect(url: string, pooled: boolean, session: Session = {}): SQL {
  return new SQL(url, {
    max: 1,
    connectionTimeout: 3,
    idleTimeout: 0,
    // Behind a pooler, the next transaction may use another connection, so no state can be kept in the session.
    prepare: !pooled,
    ...(!pooled && { connection: session }),
  })
}
