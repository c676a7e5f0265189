/**
 * Reads that a standby may answer. The guarantee is that of reads on the primary: a read sees everything that was
 * acknowledged before its request began, to any caller by any node. For that the primary is asked how far its log reaches,
 * once for all requests that wait, and a standby answers only when it has replayed the log to there.
 *
 * All reads of a request go to the same standby, so that a later one does not see less than an earlier one. If it fails, the
 * primary repeats the read, and gets the other reads of the request too.
 */
import type { SQL } from 'bun'
import { inTime } from '../../kit/in-time.ts'
import type { Metrics } from '../../kit/metrics.ts'
import { type RequestScope, requestScope } from '../../kit/request-scope.ts'
import { LogPosition } from './log-position.ts'
import { type PoolOptions, type Pools, READ_MILLISECONDS, sizesOf } from './postgres-pools.ts'
import type { Primary } from './postgres-primary.ts'
import { FALLBACKS, type Fallback, fallbackOf, Standby } from './postgres-standby.ts'
import { chooseStandby, isUsable, type Position } from './standby-choice.ts'

/** How long a read waits to learn the position. */
const POSITION_MILLISECONDS = 500

type Read<T> = (connection: SQL) => Promise<T>

/** Where the reads of a request go. */
interface Place {
  readonly standby: Standby
  readonly position: Position
}

interface PrimaryReads {
  /** Within this time. */
  read<T>(query: Read<T>, milliseconds: number): Promise<T>
  /** Not delayed by other reads. */
  readReserved<T>(pools: Pools, query: Read<T>): Promise<T>
}

export class StandbyReads {
  readonly #primary: Primary
  readonly #reads: PrimaryReads
  readonly #log: PoolOptions['log']
  readonly #standbys: ReadonlyMap<string, Standby>
  readonly #position: LogPosition
  readonly #places = new WeakMap<RequestScope, Promise<Place | undefined>>()
  readonly #answered = { standby: 0, primary: 0 }
  readonly #fallbacks = Object.fromEntries(FALLBACKS.map(each => [each, 0])) as Record<Fallback, number>
  /** Standbys whose failure was logged. */
  readonly #failing = new Set<Standby>()

  constructor(primary: Primary, reads: PrimaryReads, options: PoolOptions) {
    this.#primary = primary
    this.#reads = reads
    this.#log = options.log
    const { reading } = sizesOf(options)
    this.#standbys = new Map(primary.servers.map(({ url }) => [url, new Standby(url, reading)]))
    this.#position = new LogPosition((pools, query) => reads.readReserved(pools, query))
  }

  async read<T>(query: Read<T>): Promise<T> {
    const began = performance.now()
    const scope = requestScope()
    const place = scope && (await this.#placeOf(scope))
    if (scope !== undefined && place !== undefined) {
      try {
        const answer = await place.standby.read(place.position, query, { urgent: scope.hasRead })
        scope.hasRead = true
        this.#noteAnswer(place.standby)
        return answer
      } catch (error) {
        this.#places.set(scope, Promise.resolve(undefined))
        this.#noteFallback(place.standby, error)
      }
    }
    this.#answered.primary += 1
    return this.#reads.read(query, READ_MILLISECONDS - (performance.now() - began))
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_postgres_standby_reads_total',
      'Reads that a standby may answer, by the role of the server that did.',
      [
        [{ server: 'standby' }, this.#answered.standby],
        [{ server: 'primary' }, this.#answered.primary],
      ],
    )
    metrics.counter(
      'strand_postgres_standby_fallbacks_total',
      'Reads repeated on the primary, by what prevented the standby from answering.',
      FALLBACKS.map(reason => [{ reason }, this.#fallbacks[reason]]),
    )
    const standbys = this.#states()
    metrics.gauge(
      'strand_postgres_standby_usable',
      'Whether reads go to this server of DATABASE_URL as a standby: 1 or 0.',
      standbys.map(each => [{ host: each.host }, isUsable(each, performance.now()) ? 1 : 0]),
    )
    metrics.gauge(
      'strand_postgres_standby_lag_bytes',
      'Log of the primary that a server of DATABASE_URL had not replayed when it last answered a probe.',
      standbys.map(({ host, lag }) => [{ host }, lag]),
    )
    metrics.gauge(
      'strand_postgres_standby_connections',
      'Open connections for reads from a standby.',
      standbys.map(({ host, standby }) => [{ host }, standby.open]),
    )
  }

  close(): void {
    for (const standby of this.#standbys.values()) standby.release()
  }

  #placeOf(scope: RequestScope): Promise<Place | undefined> {
    const found = this.#places.get(scope) ?? this.#choose().catch(() => undefined)
    this.#places.set(scope, found)
    return found
  }

  async #choose(): Promise<Place | undefined> {
    const states = this.#states()
    // One that was promoted.
    for (const { isPrimary, standby } of states) if (isPrimary) standby.release()
    const standby = chooseStandby(states, performance.now())?.standby
    if (standby === undefined) return
    const pools = await this.#primary.pools()
    const position = await inTime(POSITION_MILLISECONDS, this.#position.current(pools), () => undefined)
    return position && { standby, position }
  }

  #states() {
    const { servers } = this.#primary
    const end = servers.find(({ isPrimary }) => isPrimary)?.position ?? 0n
    return servers.flatMap(({ url, host, isPrimary, isStandby, position }) => {
      const standby = this.#standbys.get(url)
      if (standby === undefined) return []
      const { awaited, restsUntil, running } = standby
      const lag = Math.max(0, Number(end - position))
      return [{ host, standby, isPrimary, isStandby, replayed: position, awaited, restsUntil, running, lag }]
    })
  }

  #noteAnswer(standby: Standby): void {
    this.#answered.standby += 1
    if (this.#failing.delete(standby)) this.#log?.info({ host: standby.host }, 'reads go to a standby again')
  }

  #noteFallback(standby: Standby, error: unknown): void {
    const reason = fallbackOf(error)
    this.#fallbacks[reason] += 1
    if (reason !== 'failed' || this.#failing.has(standby)) return
    this.#failing.add(standby)
    const { message } = error as Error
    this.#log?.warn({ host: standby.host, reason: message }, 'reads from a standby fail; using the primary')
  }
}
