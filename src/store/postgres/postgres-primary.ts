/**
 * Finds the writable server, and notices when it changes. All servers are probed every second. If two claim to be the
 * primary, for example after one was cut off for a while, the one with the newer timeline wins. It goes back to an older
 * timeline only if that loses nothing (`older-timeline.ts`). After a failover it waits until other nodes have noticed, too.
 */
import type { SQL } from 'bun'
import { assertDefined } from '../../kit/assert-defined.ts'
import { hostIn } from '../../kit/connection-url.ts'
import type { Metrics } from '../../kit/telemetry/metrics.ts'
import { withTimeout } from '../../kit/time/with-timeout.ts'
import { Unavailable } from '../errors.ts'
import type { FeedEntry } from '../feed.ts'
import { connectionFailure, NO_ANSWER } from './connection-failure.ts'
import { isTooManyConnections } from './connection-pool.ts'
import { Acknowledged, type FeedPoint, OLDER_TIMELINE_MILLISECONDS, reasonToStay } from './older-timeline.ts'
import {
  connect,
  listPools,
  measurePools,
  openPools,
  type PoolOptions,
  type Pools,
  PREPARE_MILLISECONDS,
} from './postgres-pools.ts'

const PROBE_INTERVAL_MILLISECONDS = 1000
const SEARCH_INTERVAL_MILLISECONDS = 200
const PROBE_TIMEOUT_MILLISECONDS = 1000
/** A single failed probe may be chance. */
const MAX_MISSES = 2
const SILENT_MILLISECONDS = 1500
/** How long work waits for a primary before it fails. */
const MAX_WAIT_MILLISECONDS = 1000
/**
 * After how long every node that reaches a new primary has noticed it, also one that had just begun to wait for a server that
 * does not answer.
 */
const NOTICED_MILLISECONDS = PROBE_TIMEOUT_MILLISECONDS + PROBE_INTERVAL_MILLISECONDS + 200
const TOO_SOON = 'the server has become the primary, and is used when every node has noticed, within seconds'
/** How often a primary that is refused is reported. */
const REFUSAL_REPORT_MILLISECONDS = 60_000

/** The timeline that the server writes, or 0 for a standby. */
const TIMELINE = `select case when pg_is_in_recovery() then 0
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

export class Primary {
  readonly #urls: readonly string[]
  readonly #options: PoolOptions
  readonly #probes: Probe[]
  #pools: Pools | undefined
  #timeline = 0
  /** The writes that this process has acknowledged on the current timeline. */
  #acknowledged = new Acknowledged()
  /** The newest timeline that was found, and when. */
  #promoted: { readonly timeline: number; readonly foundAt: number } | undefined
  /** Since when the only primary has an older timeline. */
  #olderSince: number | undefined
  #refusalReportedAt = Number.NEGATIVE_INFINITY
  /** The host of the last known primary. */
  #host: string | undefined
  #isOpening = false
  #misses = 0
  /** When the primary last answered a query or command, on the monotonic clock. */
  #answeredAt = 0
  #waiting = Promise.withResolvers<Pools>()
  #timer: Timer | undefined
  #probing: Promise<void> | undefined
  #closed = false
  #found = 0
  #connectionsRefused = 0

  constructor(urls: readonly string[], options: PoolOptions) {
    this.#urls = urls
    this.#options = options
    this.#probes = urls.map(url => new Probe(url, options))
    this.#waiting.promise.catch(() => undefined)
    this.#probeAfter(0)
  }

  /** Waits for the primary if it is unknown. */
  async pools(): Promise<Pools> {
    if (this.#pools !== undefined) return this.#pools
    const { promise } = this.#waiting
    const fail = (): never => {
      throw new Unavailable(`no writable PostgreSQL server: ${this.#reasons()}`)
    }
    // A primary that was found is worth the time that its connections take on a busy machine.
    return withTimeout(MAX_WAIT_MILLISECONDS, promise, () =>
      this.#isOpening ? withTimeout(2 * PREPARE_MILLISECONDS, promise, fail) : fail(),
    )
  }

  /** The server has answered. */
  noteSuccess(pools: Pools): void {
    if (this.#pools === pools) this.#answeredAt = performance.now()
  }

  /** A write was committed, and its caller is about to learn that. */
  noteAcknowledged(pools: Pools, entries: readonly FeedEntry[], began: number): void {
    if (this.#pools === pools) this.#acknowledged.note(entries, began)
  }

  /** The server did not answer, or cannot write: probes all servers at once. */
  noteFailure(pools: Pools): void {
    if (this.#pools === pools && this.#probing === undefined) this.#probeAfter(0)
  }

  /** Why each server is not the primary. */
  #reasons(): string {
    return this.#probes.map(({ host, reason }) => `${host}: ${reason}`).join('; ')
  }

  measure(metrics: Metrics): void {
    metrics.gauge(
      'strand_postgres_primary_info',
      'Role of each server of DATABASE_URL: 1 for the primary, 0 for others.',
      this.#probes.map(({ host }) => [{ host }, host === this.#pools?.host ? 1 : 0]),
    )
    metrics.gauge(
      'strand_postgres_primary_known',
      'Whether a writable server is known: 1 or 0.',
      this.#pools === undefined ? 0 : 1,
    )
    metrics.gauge(
      'strand_postgres_primary_older_timeline',
      'Whether the only primary has an older timeline and is not used: 1 or 0.',
      this.#olderSince === undefined ? 0 : 1,
    )
    metrics.counter(
      'strand_postgres_primary_changes_total',
      'Changes of the primary, including restarts of the same server.',
      Math.max(0, this.#found - 1),
    )
    measurePools(metrics, this.#options, this.#pools)
    metrics.counter(
      'strand_postgres_connections_refused_total',
      'Connections rejected by PostgreSQL because there were too many.',
      this.#connectionsRefused,
    )
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#probing
    this.#waiting.reject(new Unavailable('the store is being closed'))
    for (const probe of this.#probes) probe.close()
    if (this.#pools !== undefined) await Promise.all(listPools(this.#pools).map(pool => pool.close(1)))
  }

  #probeAfter(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#probing = this.#probe().finally(() => {
        this.#probing = undefined
        if (!this.#closed)
          this.#probeAfter(
            this.#pools === undefined ? SEARCH_INTERVAL_MILLISECONDS : PROBE_INTERVAL_MILLISECONDS,
          )
      })
    }, milliseconds)
  }

  async #probe(): Promise<void> {
    const answers = await Promise.all(this.#probes.map(probe => probe.timeline()))
    // A server that accepts no more connections is alive: its last known state still holds.
    const timelines = answers.map((answer, index) => {
      if (answer !== 'full') return answer
      return this.#pools?.host === hostIn(assertDefined(this.#urls[index], 'the URL of a probe'))
        ? this.#timeline
        : 0
    })
    const best = timelines.indexOf(Math.max(...timelines))
    const timeline = timelines[best] ?? 0
    const url = this.#urls[best]
    const isOlder = url !== undefined && timeline > 0 && timeline < this.#timeline
    if (!isOlder) this.#olderSince = undefined
    if (url === undefined || timeline === 0 || (isOlder && !(await this.#mayGoBack(best, timeline)))) {
      this.#misses += 1
      // A busy server answers probes late; it is the primary as long as it answers work.
      const isSilent = performance.now() - this.#answeredAt > SILENT_MILLISECONDS
      if (this.#misses >= MAX_MISSES && isSilent) this.#giveUp()
      return
    }
    this.#misses = 0
    const host = hostIn(url)
    if (this.#pools?.host === host && timeline === this.#timeline) return
    this.#dropPools()
    if (this.#timeline > 0 && timeline > this.#timeline && this.#isTooSoon(timeline)) {
      assertDefined(this.#probes[best], 'the probe of a server').reason = TOO_SOON
      return
    }
    this.#logPrimary({ host, timeline })
    if (timeline !== this.#timeline) this.#acknowledged = new Acknowledged()
    this.#timeline = timeline
    this.#olderSince = undefined
    this.#isOpening = true
    this.#pools = await openPools(url, this.#options, () => {
      this.#connectionsRefused += 1
    }).finally(() => {
      this.#isOpening = false
    })
    this.#waiting.resolve(this.#pools)
    this.#found += 1
  }

  /**
   * Whether another node may not have noticed the failover yet: it would show what the old primary has, and not what is
   * written to the new one.
   */
  #isTooSoon(timeline: number): boolean {
    const now = performance.now()
    if (this.#promoted?.timeline !== timeline) this.#promoted = { timeline, foundAt: now }
    return now - this.#promoted.foundAt < NOTICED_MILLISECONDS
  }

  /** Whether to use a primary with an older timeline; if not, reports what to do. */
  async #mayGoBack(index: number, timeline: number): Promise<boolean> {
    const now = performance.now()
    this.#olderSince ??= now
    if (now - this.#olderSince < OLDER_TIMELINE_MILLISECONDS) return false
    const candidate = assertDefined(this.#probes[index], 'the probe of a server')
    const others = this.#probes.filter(probe => probe !== candidate && !probe.isStandby)
    const reason = reasonToStay({
      unknown: others.map(probe => probe.host),
      hasAcknowledged: await this.#acknowledged.isOn(point => candidate.hasEntry(point)),
    })
    if (reason === undefined) return true
    candidate.reason = `the server is a primary with an older timeline; ${reason}`
    if (now - this.#refusalReportedAt > REFUSAL_REPORT_MILLISECONDS) {
      this.#refusalReportedAt = now
      const known = { known_host: this.#host, known_timeline: this.#timeline }
      this.#options.log?.error(
        { host: candidate.host, timeline, ...known, reason },
        'the only PostgreSQL primary has an older timeline and is not used: an operator has to decide',
      )
    }
    return false
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
    this.#dropPools()
  }

  /** Starts no new work on the old server; running work may still end. */
  #dropPools(): void {
    const dropped = this.#pools
    if (dropped === undefined) return
    this.#pools = undefined
    this.#waiting = Promise.withResolvers<Pools>()
    this.#waiting.promise.catch(() => undefined)
    for (const pool of listPools(dropped)) pool.close(5).catch(() => undefined)
  }
}

/** A connection to one server that checks whether it is the primary. */
class Probe {
  readonly #options: PoolOptions
  #connection: SQL | undefined
  /** Why it is not the primary. */
  reason = NO_ANSWER
  /** The last failure, to explain each kind once and not at every probe. */
  #explained = ''
  /** Whether the server answered as a standby. False if it did not answer. */
  isStandby = false
  readonly url: string
  readonly host: string

  constructor(url: string, options: PoolOptions) {
    this.url = url
    this.host = hostIn(url)
    this.#options = options
  }

  /** 0 for a standby, or if the server does not answer in time; `full` if it accepts no more connections. */
  async timeline(): Promise<number | 'full'> {
    this.#connection ??= connect(this.url, this.#options.pooled)
    const answer = this.#connection.unsafe(TIMELINE).then(
      ([row]: { timeline: number }[]) => {
        this.isStandby = row?.timeline === 0
        this.#explained = ''
        this.reason = row?.timeline
          ? 'the server is a primary with an older timeline'
          : 'the server is a standby'
        return row?.timeline ?? 0
      },
      async (error: unknown) => {
        if (isTooManyConnections(error)) return 'full' as const
        this.isStandby = false
        await this.#explain(error)
        return 0
      },
    )
    const timeline = await Promise.race([answer, Bun.sleep(PROBE_TIMEOUT_MILLISECONDS)])
    // A connection that lost its packets may never recover: the next probe opens a new one.
    if (timeline === undefined) {
      this.isStandby = false
      this.#explained = ''
      this.reason = NO_ANSWER
      this.close()
    }
    return timeline ?? 0
  }

  /** Whether the server has this entry of the feed. */
  async hasEntry({ seq, nonce }: FeedPoint): Promise<boolean> {
    this.#connection ??= connect(this.url, this.#options.pooled)
    const asked = this.#connection
      .unsafe('select 1 from feed where seq = $1 and nonce = $2', [seq, nonce])
      .then(
        rows => rows.length > 0,
        () => false,
      )
    return withTimeout(PROBE_TIMEOUT_MILLISECONDS, asked, () => false)
  }

  async #explain(error: unknown): Promise<void> {
    const {
      code = '',
      errno = '',
      message = '',
    } = error as { code?: string; errno?: string; message?: string }
    const kind = `${code} ${errno} ${message}`
    if (kind === this.#explained) return
    this.reason = await connectionFailure(error, this.url)
    this.#explained = kind
  }

  close(): void {
    this.#connection?.close({ timeout: 0 }).catch(() => undefined)
    this.#connection = undefined
  }
}
