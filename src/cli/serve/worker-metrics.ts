/**
 * A scrape reaches one of several workers, but returns the metrics of all: that worker sends a request to the supervisor,
 * which collects the metrics of every worker and labels them. A worker that does not respond in time is missing from the
 * result, which `strand_workers_answering` shows.
 */

import { byWorker, type MetricFamily, Metrics } from '../../kit/telemetry/metrics.ts'
import { withTimeout } from '../../kit/time/with-timeout.ts'

const COLLECT_MILLISECONDS = 1000
/** Longer, because the supervisor may have to wait for a worker that hangs. */
const SCRAPE_MILLISECONDS = 2 * COLLECT_MILLISECONDS

type Families = readonly MetricFamily[]

/** A worker requests the metrics of all workers from the supervisor, which requests those of each worker. */
type Message =
  | { readonly metrics: 'request'; readonly number: number }
  | { readonly metrics: 'response'; readonly number: number; readonly families: Families }

interface Child {
  send(message: Message): void
}

/** Counts of the supervisor. */
interface Counts {
  /** Configured number of workers. */
  readonly configured: number
  readonly serving: number
  readonly restarts: number
  readonly stalls: number
}

/** Requests of one side that wait for their responses. */
class Requests {
  readonly #waiting = new Map<number, (families: Families) => void>()
  #count = 0

  /** Undefined if the response does not come in time. */
  async send(to: Child, milliseconds: number): Promise<Families | undefined> {
    const number = ++this.#count
    const { promise, resolve } = Promise.withResolvers<Families>()
    this.#waiting.set(number, resolve)
    sendTo(to, { metrics: 'request', number })
    const families = await withTimeout(milliseconds, promise, () => undefined)
    this.#waiting.delete(number)
    return families
  }

  /** Takes a response, or answers a request of the other side. */
  async receive(message: unknown, from: Child, answer: () => Families | Promise<Families>): Promise<void> {
    if (typeof message !== 'object' || message === null || !('metrics' in message)) return
    const received = message as Message
    const { number } = received
    if (received.metrics === 'response') this.#waiting.get(number)?.(received.families)
    else sendTo(from, { metrics: 'response', number, families: await answer() })
  }
}

/** The supervisor's side. */
export class MetricsExchange {
  /** By name. One may just have exited. */
  readonly #workers: () => ReadonlyMap<string, Child>
  readonly #counts: () => Counts
  readonly #requests = new Requests()

  constructor(workers: () => ReadonlyMap<string, Child>, counts: () => Counts) {
    this.#workers = workers
    this.#counts = counts
  }

  receive(message: unknown, from: Child): void {
    void this.#requests.receive(message, from, () => this.#collect())
  }

  async #collect(): Promise<Families> {
    const collected = new Map<string, Families>()
    await Promise.all(
      Array.from(this.#workers(), async ([name, worker]) => {
        const families = await this.#requests.send(worker, COLLECT_MILLISECONDS)
        if (families !== undefined) collected.set(name, families)
      }),
    )
    const inOrder = new Map([...collected].sort(([one], [other]) => Number(one) - Number(other)))
    return [...this.#supervisorMetrics(collected.size), ...byWorker(inOrder)]
  }

  #supervisorMetrics(answering: number): Families {
    const metrics = new Metrics()
    const { configured, serving, restarts, stalls } = this.#counts()
    metrics.gauge('strand_workers', 'Configured number of workers.', configured)
    metrics.gauge('strand_workers_serving', 'Workers that accept connections.', serving)
    metrics.gauge('strand_workers_answering', 'Workers whose metrics are included in this scrape.', answering)
    metrics.counter('strand_worker_restarts_total', 'Workers replaced after they exited.', restarts)
    metrics.counter('strand_worker_stalls_total', 'Workers killed because they did not respond.', stalls)
    return metrics.families
  }
}

/** A worker's side: responds to requests of the supervisor. The returned function collects the metrics of all workers. */
export function shareMetrics(worker: string) {
  return (own: () => Families): (() => Promise<Families>) => {
    const supervisor: Child = { send: message => process.send?.(message) }
    const requests = new Requests()
    process.on('message', (message: unknown) => void requests.receive(message, supervisor, own))
    return async () =>
      (await requests.send(supervisor, SCRAPE_MILLISECONDS)) ?? byWorker(new Map([[worker, own()]]))
  }
}

/** Ignores a process that has just exited. */
function sendTo(other: Child, message: Message): void {
  try {
    other.send(message)
  } catch {}
}
