/**
 * The last quarter of an hour of the metrics, for the overview of the console. Metrics are counters since the start of the
 * process; a point of the history has rates and quantiles between two readings. It is kept in memory and bounded: a fixed
 * number of points, and readings by operation only as far back as the table of operations looks.
 */
import type { MetricFamily } from '../../kit/telemetry/metrics.ts'
import type { HistoryPoint } from '../charts/console-charts.ts'
import { quantile } from './quantile.ts'

export const SAMPLE_MILLISECONDS = 3000
const MAX_POINTS = 300
/** The table of operations looks back five minutes. */
const MAX_READINGS = 100

/** What was asked of one operation in the last minutes. */
export interface OperationLoad {
  readonly operation: string
  readonly requests: number
  readonly perSecond: number
  readonly refused: number
  readonly failed: number
  readonly p50: number
  readonly p95: number
}

/** Counters of one operation since the start. */
interface Counts {
  requests: number
  refused: number
  failed: number
  /** By bucket, cumulative. */
  readonly upTo: Map<number, number>
}

interface Reading {
  /** On the monotonic clock. */
  readonly at: number
  readonly byOperation: ReadonlyMap<string, Counts>
  readonly commands: number
}

export class MetricsHistory {
  readonly #read: () => Promise<readonly MetricFamily[]>
  readonly #points: HistoryPoint[] = []
  readonly #readings: Reading[] = []
  #latest: readonly MetricFamily[] = []

  constructor(read: () => Promise<readonly MetricFamily[]>) {
    this.#read = read
  }

  /** Called periodically. */
  async sample(): Promise<void> {
    const families = await this.#read()
    const reading = takeReading(families, performance.now())
    const previous = this.#readings.at(-1)
    if (previous !== undefined) keep(this.#points, pointBetween(previous, reading, families), MAX_POINTS)
    keep(this.#readings, reading, MAX_READINGS)
    this.#latest = families
  }

  /** The points after a time, oldest first. */
  since(at: number): readonly HistoryPoint[] {
    return this.#points.filter(point => point.at > at)
  }

  /** Operations of the last minutes, the busiest first. */
  operations(): readonly OperationLoad[] {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)]
    if (first === undefined || last === undefined || first === last) return []
    const seconds = (last.at - first.at) / 1000
    return Array.from(last.byOperation, ([operation, counts]) => {
      const { upTo, ...passed } = difference(counts, first.byOperation.get(operation))
      return {
        operation,
        ...passed,
        perSecond: passed.requests / seconds,
        p50: quantile(upTo, 0.5) * 1000,
        p95: quantile(upTo, 0.95) * 1000,
      }
    })
      .filter(({ requests }) => requests > 0)
      .sort((one, other) => other.requests - one.requests)
  }

  /** The newest value of a gauge or counter, over all labels and workers; undefined if there is none. */
  value(name: string, combine: 'sum' | 'max' = 'max'): number | undefined {
    return valueIn(this.#latest, name, combine)
  }

  /** The labels of a metric that only carries labels, such as the build information. */
  labels(name: string): Readonly<Record<string, string>> {
    return this.#latest.find(family => family.name === name)?.samples[0]?.labels ?? {}
  }
}

function keep<T>(list: T[], item: T, most: number): void {
  list.push(item)
  if (list.length > most) list.shift()
}

function takeReading(families: readonly MetricFamily[], at: number): Reading {
  const byOperation = new Map<string, Counts>()
  const countRequests = (operation: string) => {
    const counts = byOperation.get(operation) ?? { requests: 0, refused: 0, failed: 0, upTo: new Map() }
    byOperation.set(operation, counts)
    return counts
  }
  for (const { name, samples } of families) {
    if (name === 'strand_http_requests_total')
      for (const { labels, value } of samples) {
        const counts = countRequests(labels.operation ?? '')
        counts.requests += value
        if (labels.status?.startsWith('4')) counts.refused += value
        if (labels.status?.startsWith('5')) counts.failed += value
      }
    if (name === 'strand_http_request_duration_seconds')
      for (const { suffix, labels, value } of samples) {
        if (suffix !== '_bucket') continue
        const { upTo } = countRequests(labels.operation ?? '')
        const limit = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)
        upTo.set(limit, (upTo.get(limit) ?? 0) + value)
      }
  }
  return { at, byOperation, commands: valueIn(families, 'strand_store_commands_total', 'sum') ?? 0 }
}

/** What passed between two readings. A worker that was restarted counts from 0 again: nothing is negative. */
function difference(later: Counts, earlier: Counts | undefined): Counts {
  const less = (name: 'requests' | 'refused' | 'failed') => Math.max(0, later[name] - (earlier?.[name] ?? 0))
  return {
    requests: less('requests'),
    refused: less('refused'),
    failed: less('failed'),
    upTo: new Map(
      Array.from(later.upTo, ([limit, count]) => [
        limit,
        Math.max(0, count - (earlier?.upTo.get(limit) ?? 0)),
      ]),
    ),
  }
}

function pointBetween(earlier: Reading, later: Reading, families: readonly MetricFamily[]): HistoryPoint {
  const seconds = Math.max(0.001, (later.at - earlier.at) / 1000)
  const total: Counts = { requests: 0, refused: 0, failed: 0, upTo: new Map() }
  for (const [operation, counts] of later.byOperation) {
    const { requests, refused, failed, upTo } = difference(counts, earlier.byOperation.get(operation))
    total.requests += requests
    total.refused += refused
    total.failed += failed
    for (const [limit, count] of upTo) total.upTo.set(limit, (total.upTo.get(limit) ?? 0) + count)
  }
  const gauge = (name: string, combine: 'sum' | 'max') => valueIn(families, name, combine) ?? 0
  return {
    at: Date.now(),
    // Every worker has all live streams in memory.
    live: gauge('strand_directory_streams', 'max'),
    viewers: gauge('strand_directory_viewers', 'max'),
    requests: rounded(total.requests / seconds),
    refused: rounded(total.refused / seconds),
    failed: rounded(total.failed / seconds),
    p50: rounded(quantile(total.upTo, 0.5) * 1000),
    p95: rounded(quantile(total.upTo, 0.95) * 1000),
    p99: rounded(quantile(total.upTo, 0.99) * 1000),
    queue: gauge('strand_store_writer_waiting', 'sum') + gauge('strand_postgres_writes_waiting', 'sum'),
    commands: rounded(Math.max(0, later.commands - earlier.commands) / seconds),
    lag: rounded(gauge('strand_feed_stale_seconds', 'max') * 1000),
  }
}

function valueIn(
  families: readonly MetricFamily[],
  name: string,
  combine: 'sum' | 'max',
): number | undefined {
  const values = families.find(family => family.name === name)?.samples.map(({ value }) => value) ?? []
  if (values.length === 0) return undefined
  return combine === 'sum' ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values)
}

const rounded = (value: number): number => Math.round(value * 100) / 100
