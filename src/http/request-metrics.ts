/**
 * Request metrics by operation. They are updated for every request, so they are numbers in arrays: no allocation, no look-up
 * by name. Label values never come from a request; requests without an operation count as `page`, `other` or `unknown`.
 */

import { type ProblemName, problems } from '../contract/problem.ts'
import { assertDefined } from '../kit/assert-defined.ts'
import { Histogram, SECONDS } from '../kit/telemetry/histogram.ts'
import type { Labels, Metrics } from '../kit/telemetry/metrics.ts'
import type { RateLimits } from './limits/rate-limit.ts'

/** Every status that is used; any other counts as the last. */
const STATUSES = [200, 204, 302, 304, 400, 401, 403, 404, 409, 410, 413, 429, 500, 503, 0] as const
const slotOfStatus = new Uint8Array(600).fill(STATUSES.length - 1)
for (const [slot, status] of STATUSES.entries()) slotOfStatus[status] = slot

/** The counters of one operation, or of one kind of other request. */
export class RequestCounter {
  readonly name: string
  readonly #success: number
  readonly #statuses = new Float64Array(STATUSES.length)
  readonly seconds = new Histogram(SECONDS)

  constructor(name: string, success = 200) {
    this.name = name
    this.#success = success
  }

  note(status: number, milliseconds: number): void {
    const slot = slotOfStatus[status] ?? STATUSES.length - 1
    this.#statuses[slot] = (this.#statuses[slot] as number) + 1
    this.seconds.note(milliseconds / 1000)
  }

  /** Statuses that occurred, and always success: a series that starts at 0 shows the first one as an increase. */
  *byStatus(): Generator<readonly [Labels, number]> {
    for (const [slot, status] of STATUSES.entries()) {
      const count = this.#statuses[slot] as number
      if (count === 0 && status !== this.#success) continue
      yield [{ operation: this.name, status: status === 0 ? 'other' : String(status) }, count]
    }
  }
}

const BUCKETS: readonly (keyof RateLimits)[] = ['app', 'user', 'anonymous']

export class RequestMetrics {
  /** Web pages. */
  readonly pages = new RequestCounter('page')
  readonly images = new RequestCounter('image')
  readonly broadcasts = new RequestCounter('broadcast')
  readonly sockets = new RequestCounter('event_socket', 101)
  /** Callbacks of media servers. */
  readonly callbacks = new RequestCounter('callback')
  /** Health checks, API documents and /metrics. */
  readonly others = new RequestCounter('other')
  /** Unknown paths, and preflights. */
  readonly unknown = new RequestCounter('unknown', 404)
  readonly #counters = [
    this.pages,
    this.images,
    this.broadcasts,
    this.sockets,
    this.callbacks,
    this.others,
    this.unknown,
  ]
  readonly #problems = new Map(Object.keys(problems).map(name => [name as ProblemName, 0]))
  readonly #refused = new Map(BUCKETS.map(bucket => [bucket, 0]))
  #inFlight = 0

  counterFor(operation: string, success: number): RequestCounter {
    const counter = new RequestCounter(operation, success)
    this.#counters.push(counter)
    return counter
  }

  begin(): void {
    this.#inFlight += 1
  }

  end(counter: RequestCounter, status: number, milliseconds: number, problem: ProblemName | undefined): void {
    this.#inFlight -= 1
    counter.note(status, milliseconds)
    if (problem !== undefined)
      this.#problems.set(problem, assertDefined(this.#problems.get(problem), problem) + 1)
  }

  /** Counts a request that was rejected because the bucket was empty. */
  refuse(bucket: keyof RateLimits): void {
    this.#refused.set(bucket, assertDefined(this.#refused.get(bucket), bucket) + 1)
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_http_requests_total',
      'Requests answered, by operation and status.',
      this.#counters.flatMap(counter => [...counter.byStatus()]),
    )
    metrics.histogram(
      'strand_http_request_duration_seconds',
      'Time from receiving a request to its response.',
      this.#counters
        .filter(({ seconds }) => seconds.count > 0)
        .map(({ name, seconds }) => [{ operation: name }, seconds] as const),
    )
    metrics.gauge('strand_http_requests_in_flight', 'Requests in flight.', this.#inFlight)
    metrics.counter(
      'strand_http_problems_total',
      'Errors returned to callers, by problem.',
      Array.from(this.#problems, ([problem, count]) => [{ problem }, count]),
    )
    metrics.counter(
      'strand_rate_limit_refusals_total',
      'Requests rejected by a rate limit, by kind of bucket.',
      Array.from(this.#refused, ([bucket, count]) => [{ bucket }, count]),
    )
  }
}
