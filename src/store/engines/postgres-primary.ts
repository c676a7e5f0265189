/**
 * Finds the one server that can be written to, and notices when it is another one. Servers are asked in turn every second;
 * of two that both claim to be it, such as after one was cut off for a while, the one of the younger timeline is.
 */
import { SQL } from 'bun'
import { hostIn } from '../../kit/connection-url.ts'
import type { Log } from '../../kit/log.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { Unavailable } from '../errors.ts'
import { connectionFailure, NO_ANSWER } from './connection-failure.ts'
import { ConnectionPool, type ConnectionPoolOptions, isTooManyConnections } from './connection-pool.ts'

const LOOK_MILLISECONDS = 1000
const LOOK_SOONER_MILLISECONDS = 200
const PROBE_MILLISECONDS = 1000
/** Once may be chance. */
const MISSES = 2
const SILENT_MILLISECONDS = 1500
export const READ_MILLISECONDS = 3000
/** How long a write waits for a row that another one holds. */
export const LOCK_MILLISECONDS = 2000
/** How long a write waits for a connection. */
const WRITE_QUEUE_MILLISECONDS = 1000
/**
 * How long a read does. Together with looking for the primary that is what it has: it is refused before it is late. Those who
 * are refused ask again at once, which costs most of what answering them would: waiting costs nothing.
 */
const READ_QUEUE_MILLISECONDS = 2000
/** How many reads a connection is given at a time, so that it is not idle while this process is busy. */
const READS_AT_ONCE = 16
/** How long opening the first connections to a new primary may keep everybody waiting. */
const PREPARE_MILLISECONDS = 1000
/** Whoever comes while it is not known waits so long before it is told to come back. */
const MAX_WAIT_MILLISECONDS = 1000

/** What the servers are asked: which timeline this one writes, or 0 if it only follows. */
const TIMELINE = `select case when pg_is_in_recovery() then 0
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

export interface PoolOptions {
  readonly connections: number
  /** Between us and the servers stands a pooler that gives a connection for one transaction at a time. */
  readonly pooled: boolean
  readonly log?: Log | undefined
}

/** Connections to the server that can be written to. Reads have their own: writes that wait for a standby keep theirs. */
export interface Pools {
  readonly host: string
  readonly reading: ConnectionPool
  readonly writing: ConnectionPool
  /** One connection for what must go on while there is more to read than can be: the feed, and whether we are ready. */
  readonly reserved: ConnectionPool
  /** One connection for leases of rate limits, so that many callers keep no write waiting. */
  readonly leasing: ConnectionPool
  /** One connection more, for work that takes long; whoever asks for it closes it. Unless told, it is for reading. */
  connectAside(session?: Readonly<Record<string, number>>): SQL
}

export class Primary {
  readonly #urls: readonly string[]
  readonly #options: PoolOptions
  readonly #probes: Probe[]
  #pools: Pools | undefined
  #timeline = 0
  /** Of the primary that was found last. */
  #host: string | undefined
  #misses = 0
  /** When a query or a command was last answered, on the monotonic clock. */
  #answeredAt = 0
  #waiting = Promise.withResolvers<Pools>()
  #timer: Timer | undefined
  #looking: Promise<void> | undefined
  #closed = false
  #found = 0
  #connectionsRefused = 0

  constructor(urls: readonly string[], options: PoolOptions) {
    this.#urls = urls
    this.#options = options
    this.#probes = urls.map(url => new Probe(url, options))
    this.#waiting.promise.catch(() => undefined)
    this.#lookAgain(0)
  }

  /** The pools of the primary, as soon as it is known. */
  async pools(): Promise<Pools> {
    if (this.#pools !== undefined) return this.#pools
    const found = await Promise.race([
      this.#waiting.promise,
      Bun.sleep(MAX_WAIT_MILLISECONDS).then(() => undefined),
    ])
    if (found === undefined)
      throw new Unavailable(`no PostgreSQL server can be written to: ${this.#reasons()}`)
    return found
  }

  /** The server has answered. */
  confirm(pools: Pools): void {
    if (this.#pools === pools) this.#answeredAt = performance.now()
  }

  /** The server did not answer, or would not write: it is looked for at once. */
  doubt(pools: Pools): void {
    if (this.#pools === pools && this.#looking === undefined) this.#lookAgain(0)
  }

  /** Why none of the servers is the primary, each in one sentence. */
  #reasons(): string {
    return this.#probes.map(({ host, reason }) => `${host}: ${reason}`).join('; ')
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_postgres_primary_info',
      'Server that is written to: 1 for the primary, 0 for the others of DATABASE_URL.',
      this.#probes.map(({ host }) => [{ host }, host === this.#pools?.host ? 1 : 0]),
    )
    metrics.gauge(
      'strand_postgres_primary_known',
      'Whether a server is known that can be written to: 1 or 0.',
      this.#pools === undefined ? 0 : 1,
    )
    metrics.counter(
      'strand_postgres_primary_changes_total',
      'Times that another server, or the same one anew, became the one to write to.',
      Math.max(0, this.#found - 1),
    )
    const sizes = sizesOf(this.#options)
    metrics.gauge(
      'strand_postgres_connections_max',
      'Connections that a pool may open.',
      POOLS.map(pool => [{ pool }, sizes[pool]]),
    )
    metrics.counter(
      'strand_postgres_connections_refused_total',
      'Connections that PostgreSQL did not take because there were too many.',
      this.#connectionsRefused,
    )
    const pools = this.#pools
    metrics.gauge(
      'strand_postgres_connections',
      'Connections that a pool has open.',
      POOLS.map(pool => [{ pool }, pools?.[pool].open ?? 0]),
    )
    metrics.gauge(
      'strand_postgres_queries_in_progress',
      'Queries and writes that PostgreSQL is at.',
      POOLS.map(pool => [{ pool }, pools?.[pool].inside ?? 0]),
    )
    metrics.gauge(
      'strand_postgres_reads_waiting',
      'Reads waiting for a connection.',
      pools?.reading.waiting ?? 0,
    )
    metrics.gauge(
      'strand_postgres_writes_waiting',
      'Writes that wait for a connection.',
      pools?.writing.waiting ?? 0,
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#looking
    this.#waiting.reject(new Unavailable('the store is being closed'))
    for (const probe of this.#probes) probe.close()
    await Promise.all(poolsOf(this.#pools).map(pool => pool.close(1)))
  }

  #lookAgain(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined
        if (!this.#closed)
          this.#lookAgain(this.#pools === undefined ? LOOK_SOONER_MILLISECONDS : LOOK_MILLISECONDS)
      })
    }, milliseconds)
  }

  async #look(): Promise<void> {
    const answers = await Promise.all(this.#probes.map(probe => probe.timeline()))
    // A server that takes no more connections is alive: what was known of it holds.
    const timelines = answers.map((answer, index) => {
      if (answer !== 'crowded') return answer
      return this.#pools?.host === hostIn(this.#urls[index] ?? '') ? this.#timeline : 0
    })
    const best = timelines.indexOf(Math.max(...timelines))
    const timeline = timelines[best] ?? 0
    const url = this.#urls[best]
    // A timeline is never left for an older one: that would be a server that was cut off and does not know it.
    if (url === undefined || timeline === 0 || timeline < this.#timeline) {
      this.#misses += 1
      // A machine that is busy answers late; as long as it does answer, it is the one.
      const isSilent = performance.now() - this.#answeredAt > SILENT_MILLISECONDS
      if (this.#misses >= MISSES && isSilent) this.#giveUp()
      return
    }
    this.#misses = 0
    const host = hostIn(url)
    if (this.#pools?.host === host && timeline === this.#timeline) return
    this.#lose()
    this.#logPrimary({ host, timeline })
    this.#timeline = timeline
    this.#pools = { host, ...(await this.#openPools(url)) }
    this.#waiting.resolve(this.#pools)
    this.#found += 1
  }

  /** The server ends reads that take too long, and waits for rows; a write it never ends. */
  async #openPools(url: string): Promise<Omit<Pools, 'host'>> {
    const { pooled, log } = this.#options
    const sizes = sizesOf(this.#options)
    const open = (session: Readonly<Record<string, number>>) => () =>
      connect(url, { connections: 1, pooled, session })
    const reads = { statement_timeout: READ_MILLISECONDS }
    const poolOf = (
      name: (typeof POOLS)[number],
      options: Pick<ConnectionPoolOptions, 'open' | 'depth' | 'isSpare' | 'work'>,
    ) =>
      new ConnectionPool({
        ...options,
        size: sizes[name],
        maxWaitMilliseconds: options.work === 'reads' ? READ_QUEUE_MILLISECONDS : WRITE_QUEUE_MILLISECONDS,
        onFewer: ({ isNews, ...fewer }) => {
          this.#connectionsRefused += 1
          if (!isNews) return
          log?.warn(
            { pool: name, ...fewer, wanted: sizes[name] },
            'PostgreSQL takes fewer connections than the settings ask for; going on with those that are open',
          )
        },
        onRefusing: () =>
          log?.warn(
            { pool: name },
            'more is asked of PostgreSQL than it answers; some of it is refused with 503',
          ),
      })
    const pools = {
      reading: poolOf('reading', { open: open(reads), depth: READS_AT_ONCE, work: 'reads' }),
      writing: poolOf('writing', {
        open: open({ statement_timeout: 0, lock_timeout: LOCK_MILLISECONDS }),
        depth: 1,
        work: 'writes',
      }),
      reserved: poolOf('reserved', { open: open(reads), depth: READS_AT_ONCE, isSpare: true, work: 'reads' }),
      leasing: poolOf('leasing', {
        open: open({ statement_timeout: 0, lock_timeout: LOCK_MILLISECONDS }),
        depth: 1,
        isSpare: true,
        work: 'writes',
      }),
      connectAside: (session = reads) => open(session)(),
    }
    ConnectionPool.share([pools.leasing, pools.reserved, pools.writing, pools.reading])
    const prepared = pools.reading
      .prepare()
      .then(() => pools.writing.prepare())
      .then(() => pools.reserved.prepare())
    // Each has its first connection before one of them opens more, for the server may not take all of them.
    await Promise.race([prepared, Bun.sleep(PREPARE_MILLISECONDS)])
    return pools
  }

  #logPrimary({ host, timeline }: { host: string; timeline: number }): void {
    const { log } = this.#options
    const [previous_host, previous_timeline] = [this.#host, this.#timeline]
    this.#host = host
    if (previous_host === undefined) log?.info({ host, timeline }, 'found the PostgreSQL primary')
    else if (previous_host === host && previous_timeline === timeline)
      log?.info({ host, timeline }, 'the PostgreSQL primary is back')
    else log?.warn({ host, timeline, previous_host, previous_timeline }, 'the PostgreSQL primary changed')
  }

  #giveUp(): void {
    if (this.#pools === undefined) return
    this.#options.log?.warn(
      { host: this.#pools.host, timeline: this.#timeline, reason: this.#reasons() },
      'the PostgreSQL primary is gone; looking for another',
    )
    this.#lose()
  }

  /** What is under way on the old server ends as it may; nothing new is begun there. */
  #lose(): void {
    const lost = this.#pools
    if (lost === undefined) return
    this.#pools = undefined
    this.#waiting = Promise.withResolvers<Pools>()
    this.#waiting.promise.catch(() => undefined)
    for (const pool of poolsOf(lost)) pool.close(5).catch(() => undefined)
  }
}

const POOLS = ['reading', 'writing', 'reserved', 'leasing'] as const

const poolsOf = (pools: Pools | undefined): ConnectionPool[] =>
  pools === undefined ? [] : POOLS.map(name => pools[name])

function sizesOf({ connections }: PoolOptions): Record<(typeof POOLS)[number], number> {
  const writing = Math.ceil(connections / 2)
  return { reading: Math.max(1, connections - writing), writing, reserved: 1, leasing: 1 }
}

function connect(
  url: string,
  options: PoolOptions & { readonly session?: Readonly<Record<string, number>> },
): SQL {
  const { connections, pooled, session = {} } = options
  return new SQL(url, {
    max: connections,
    connectionTimeout: 3,
    idleTimeout: 0,
    // Behind a pooler the next transaction may meet another connection: nothing can be prepared or set for later.
    prepare: !pooled,
    ...(!pooled && { connection: session }),
  })
}

/** One connection to one server, to ask it who it is. */
class Probe {
  readonly #url: string
  readonly #options: PoolOptions
  #connection: SQL | undefined
  #reason = NO_ANSWER
  /** What went wrong last, to explain each kind of failure once and not at every question. */
  #explained = ''
  readonly host: string

  constructor(url: string, options: PoolOptions) {
    this.#url = url
    this.host = hostIn(url)
    this.#options = { ...options, connections: 1 }
  }

  /** Why it is not the primary, as far as it is known. */
  get reason(): string {
    return this.#reason
  }

  /** 0 for a server that only follows, or does not answer in time. */
  async timeline(): Promise<number | 'crowded'> {
    this.#connection ??= connect(this.#url, this.#options)
    const asked = this.#connection.unsafe(TIMELINE).then(
      ([row]: { timeline: number }[]) => {
        this.#explained = ''
        this.#reason = row?.timeline ? 'it is a primary of an older timeline' : 'it is a standby'
        return row?.timeline ?? 0
      },
      async (error: unknown) => {
        if (isTooManyConnections(error)) return 'crowded' as const
        await this.#explain(error)
        return 0
      },
    )
    const timeline = await Promise.race([asked, Bun.sleep(PROBE_MILLISECONDS)])
    // A connection into a hole stays one, also when the hole is closed: the next question goes over a new one.
    if (timeline === undefined) {
      this.#explained = ''
      this.#reason = NO_ANSWER
      this.close()
    }
    return timeline ?? 0
  }

  async #explain(error: unknown): Promise<void> {
    const {
      code = '',
      errno = '',
      message = '',
    } = error as { code?: string; errno?: string; message?: string }
    const kind = `${code} ${errno} ${message}`
    if (kind === this.#explained) return
    this.#reason = await connectionFailure(error, this.#url)
    this.#explained = kind
  }

  close(): void {
    this.#connection?.close({ timeout: 0 }).catch(() => undefined)
    this.#connection = undefined
  }
}
