/**
 * Finds the one server that can be written to, and notices when it is another one. Servers are asked in turn every second;
 * of two that both claim to be it, such as after one was cut off for a while, the one of the younger timeline is.
 */
import type { SQL } from 'bun'
import { hostIn } from '../../kit/connection-url.ts'
import { inTime } from '../../kit/in-time.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { must } from '../../kit/must.ts'
import { Unavailable } from '../errors.ts'
import { connectionFailure, NO_ANSWER } from './connection-failure.ts'
import { isTooManyConnections } from './connection-pool.ts'
import { connect, measurePools, openPools, type PoolOptions, type Pools, poolsOf } from './postgres-pools.ts'

const LOOK_MILLISECONDS = 1000
const LOOK_SOONER_MILLISECONDS = 200
const PROBE_MILLISECONDS = 1000
/** Once may be chance. */
const MISSES = 2
const SILENT_MILLISECONDS = 1500
/** How long work waits for a primary to be found before it fails. */
const MAX_WAIT_MILLISECONDS = 1000

/** What the servers are asked: which timeline this one writes, or 0 if it only follows. */
const TIMELINE = `select case when pg_is_in_recovery() then 0
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

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
    return inTime(MAX_WAIT_MILLISECONDS, this.#waiting.promise, () => {
      throw new Unavailable(`no PostgreSQL server can be written to: ${this.#reasons()}`)
    })
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
      'Changes of the primary, restarts of the same one included.',
      Math.max(0, this.#found - 1),
    )
    measurePools(metrics, this.#options, this.#pools)
    metrics.counter(
      'strand_postgres_connections_refused_total',
      'Connections that PostgreSQL did not take because there were too many.',
      this.#connectionsRefused,
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#looking
    this.#waiting.reject(new Unavailable('the store is being closed'))
    for (const probe of this.#probes) probe.close()
    if (this.#pools !== undefined) await Promise.all(poolsOf(this.#pools).map(pool => pool.close(1)))
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
      return this.#pools?.host === hostIn(must(this.#urls[index], 'the URL of a probe')) ? this.#timeline : 0
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
    this.#pools = await openPools(url, this.#options, () => {
      this.#connectionsRefused += 1
    })
    this.#waiting.resolve(this.#pools)
    this.#found += 1
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
    this.#options = options
  }

  /** Why it is not the primary, as far as it is known. */
  get reason(): string {
    return this.#reason
  }

  /** 0 for a server that only follows, or does not answer in time. */
  async timeline(): Promise<number | 'crowded'> {
    this.#connection ??= connect(this.#url, this.#options.pooled)
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
