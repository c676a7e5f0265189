/**
 * What came in and how it was answered, by operation. This is counted for every request, so it is a few numbers in arrays:
 * nothing is made and nothing is looked up by name. What a request says never becomes the name of a figure; whatever no
 * operation answers counts under one of three words in lower case.
 */

import { type ProblemName, problems } from '../contract/problem.ts'
import { Histogram, SECONDS } from '../kit/histogram.ts'
import type { Labels, Metrics } from '../kit/metrics.ts'
import { must } from '../kit/must.ts'
import type { RateLimits } from './rate-limit.ts'

/** Every status that is answered; another one would count as the last. */
const STATUSES = [200, 204, 302, 400, 401, 403, 404, 409, 413, 429, 500, 503, 0] as const
const placeOfStatus = new Uint8Array(600).fill(STATUSES.length - 1)
for (const [place, status] of STATUSES.entries()) placeOfStatus[status] = place

/** How one operation, or one kind of other request, was answered. */
export class Tally {
  readonly name: string
  readonly #success: number
  readonly #statuses = new Float64Array(STATUSES.length)
  readonly seconds = new Histogram(SECONDS)

  constructor(name: string, success = 200) {
    this.name = name
    this.#success = success
  }

  note(status: number, milliseconds: number): void {
    const place = placeOfStatus[status] ?? STATUSES.length - 1
    this.#statuses[place] = (this.#statuses[place] as number) + 1
    this.seconds.note(milliseconds / 1000)
  }

  /** The statuses that were answered, and success in any case, so that the first one is seen as a rise. */
  *byStatus(): Generator<readonly [Labels, number]> {
    for (const [place, status] of STATUSES.entries()) {
      const count = this.#statuses[place] as number
      if (count === 0 && status !== this.#success) continue
      yield [{ operation: this.name, status: status === 0 ? 'other' : String(status) }, count]
    }
  }
}

const BUCKETS: readonly (keyof RateLimits)[] = ['app', 'user', 'anonymous']

export class Traffic {
  /** What people see in a browser. */
  readonly pages = new Tally('page')
  /** Health, documents, and what is measured itself. */
  readonly others = new Tally('other')
  /** Where nothing is, and preflights. */
  readonly unknown = new Tally('unknown', 404)
  readonly #tallies = [this.pages, this.others, this.unknown]
  readonly #problems = new Map(Object.keys(problems).map(name => [name as ProblemName, 0]))
  readonly #refused = new Map(BUCKETS.map(bucket => [bucket, 0]))
  #underWay = 0

  tallyOf(operation: string, success: number): Tally {
    const tally = new Tally(operation, success)
    this.#tallies.push(tally)
    return tally
  }

  begin(): void {
    this.#underWay += 1
  }

  end(tally: Tally, status: number, milliseconds: number, problem: ProblemName | undefined): void {
    this.#underWay -= 1
    tally.note(status, milliseconds)
    if (problem !== undefined) this.#problems.set(problem, must(this.#problems.get(problem), problem) + 1)
  }

  /** A bucket was empty. */
  refuse(bucket: keyof RateLimits): void {
    this.#refused.set(bucket, must(this.#refused.get(bucket), bucket) + 1)
  }

  measure(metrics: Metrics): void {
    metrics.counter(
      'strand_http_requests_total',
      'Requests answered, by operation and status.',
      this.#tallies.flatMap(tally => [...tally.byStatus()]),
    )
    metrics.histogram(
      'strand_http_request_duration_seconds',
      'Time from the first look at a request to its answer.',
      this.#tallies
        .filter(({ seconds }) => seconds.count > 0)
        .map(({ name, seconds }) => [{ operation: name }, seconds] as const),
    )
    metrics.gauge('strand_http_requests_in_flight', 'Requests that are being answered.', this.#underWay)
    metrics.counter(
      'strand_http_problems_total',
      'Failures told to callers, by the name of the problem.',
      Array.from(this.#problems, ([problem, count]) => [{ problem }, count]),
    )
    metrics.counter(
      'strand_rate_limit_refusals_total',
      'Requests refused because a bucket was empty, by the kind of bucket.',
      Array.from(this.#refused, ([bucket, count]) => [{ bucket }, count]),
    )
  }
}
