/** The connections to the primary, in pools by the kind of work. */
import { SQL } from 'bun'
import { hostIn } from '../../kit/connection-url.ts'
import type { Log } from '../../kit/log.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { ConnectionPool, type ConnectionPoolOptions } from './connection-pool.ts'

export const READ_MILLISECONDS = 3000
/** How long a write waits for a row that another one holds. */
export const LOCK_MILLISECONDS = 2000
/** How long a write waits for a connection. */
const WRITE_QUEUE_MILLISECONDS = 1000
/**
 * How long a read waits for a connection. With the search for the primary that is within its deadline. Waiting costs nothing,
 * but clients that are refused ask again at once, which costs most of what answering them would.
 */
const READ_QUEUE_MILLISECONDS = 2000
/** How many reads a connection is given at a time, so that it is not idle while this process is busy. */
const READS_AT_ONCE = 16
/** How long opening the first connections to a new primary may delay all work. */
const PREPARE_MILLISECONDS = 1000

const POOLS = ['reading', 'writing', 'reserved', 'leasing'] as const
type PoolName = (typeof POOLS)[number]

/** Settings of the sessions of a connection. */
type Session = Readonly<Record<string, number>>

/** The server ends reads that take too long, and waits for rows; it never ends a write. */
const READS: Session = { statement_timeout: READ_MILLISECONDS }
const WRITES: Session = { statement_timeout: 0, lock_timeout: LOCK_MILLISECONDS }

export interface PoolOptions {
  readonly connections: number
  /** A pooler in front of the servers assigns a connection for one transaction at a time. */
  readonly pooled: boolean
  readonly log?: Log | undefined
}

/**
 * Reads and writes have connections of their own: a write that waits for a standby keeps its connection. `reserved` is one
 * connection for what must not wait for other reads: the feed, and readiness. `leasing` is one for leases of rate limits, so
 * that many callers keep no write waiting.
 */
export interface Pools extends Readonly<Record<PoolName, ConnectionPool>> {
  readonly host: string
  /** One connection more, for work that takes long; the caller closes it. By default it is for reading. */
  connectAside(session?: Session): SQL
}

/** Opens the pools, each with its first connection before one of them opens more: the server may not take all of them. */
export async function openPools(url: string, options: PoolOptions, onRefused: () => void): Promise<Pools> {
  const { pooled, log } = options
  const sizes = sizesOf(options)
  const poolOf = (name: PoolName, work: ConnectionPoolOptions['work'], isSpare = false) =>
    new ConnectionPool({
      work,
      isSpare,
      size: sizes[name],
      open: () => connect(url, pooled, work === 'reads' ? READS : WRITES),
      depth: work === 'reads' ? READS_AT_ONCE : 1,
      maxWaitMilliseconds: work === 'reads' ? READ_QUEUE_MILLISECONDS : WRITE_QUEUE_MILLISECONDS,
      onFewer: ({ isNews, ...fewer }) => {
        onRefused()
        if (!isNews) return
        log?.warn(
          { pool: name, ...fewer, wanted: sizes[name] },
          'PostgreSQL takes fewer connections than the settings ask for; continuing with those that are open',
        )
      },
      onRefusing: () =>
        log?.warn({ pool: name }, 'PostgreSQL is overloaded; some requests are refused with 503'),
    })
  const pools: Pools = {
    host: hostIn(url),
    reading: poolOf('reading', 'reads'),
    writing: poolOf('writing', 'writes'),
    reserved: poolOf('reserved', 'reads', true),
    leasing: poolOf('leasing', 'writes', true),
    connectAside: (session = READS) => connect(url, pooled, session),
  }
  ConnectionPool.share([pools.leasing, pools.reserved, pools.writing, pools.reading])
  const prepare = async () => {
    for (const pool of [pools.reading, pools.writing, pools.reserved]) await pool.prepare()
  }
  await Promise.race([prepare(), Bun.sleep(PREPARE_MILLISECONDS)])
  return pools
}

export const poolsOf = (pools: Pools): ConnectionPool[] => POOLS.map(name => pools[name])

export function measurePools(metrics: Metrics, options: PoolOptions, pools: Pools | undefined): void {
  const sizes = sizesOf(options)
  const each = (of: (name: PoolName) => number | undefined) =>
    POOLS.map(pool => [{ pool }, of(pool) ?? 0] as const)
  metrics.gauge(
    'strand_postgres_connections_max',
    'Connections that a pool may open.',
    each(name => sizes[name]),
  )
  metrics.gauge(
    'strand_postgres_connections',
    'Connections that a pool has open.',
    each(name => pools?.[name].open),
  )
  metrics.gauge(
    'strand_postgres_queries_in_progress',
    'Queries and writes in progress.',
    each(name => pools?.[name].inside),
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

function sizesOf({ connections }: PoolOptions): Record<PoolName, number> {
  const writing = Math.ceil(connections / 2)
  return { reading: Math.max(1, connections - writing), writing, reserved: 1, leasing: 1 }
}

/** One connection, opened when it is first used. */
export function connect(url: string, pooled: boolean, session: Session = {}): SQL {
  return new SQL(url, {
    max: 1,
    connectionTimeout: 3,
    idleTimeout: 0,
    // Behind a pooler the next transaction may meet another connection: nothing can be prepared or set for later.
    prepare: !pooled,
    ...(!pooled && { connection: session }),
  })
}
