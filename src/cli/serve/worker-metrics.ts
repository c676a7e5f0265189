/**
 * A scrape reaches one of several workers, but returns the metrics of all: that worker sends a request to the supervisor,
 * which collects the metrics of every worker and labels them. A worker that does not respond in time is missing from the
 * result, which `strand_workers_answering` shows.
 */
import { byWorker, type MetricFamily, Metrics } from '../../kit/metrics.ts'

const COLLECT_MILLISECONDS = 1000
/** Longer, because the supervisor may have to wait for a worker that hangs. */
const SCRAPE_MILLISECONDS = 2 * COLLECT_MILLISECONDS

type Families = readonly MetricFamily[]

/** From a worker: a request for the metrics of all workers, and its response to a request of the supervisor. */
type FromWorker =
  | { readonly metrics: 'scrape'; readonly scrape: number }
  | { readonly metrics: 'response'; readonly request: number; readonly families: Families }

/** From the supervisor: a request to every worker, and the metrics of all of them. */
type FromSupervisor =
  | { readonly metrics: 'request'; readonly request: number }
  | { readonly metrics: 'result'; readonly scrape: number; readonly families: Families }

interface Child {
  send(message: FromSupervisor): void
}

/** Counts of the supervisor. */
interface Counts {
  /** Configured number of workers. */
  readonly configured: number
  readonly serving: number
  readonly restarts: number
  readonly stalls: number
}

/** The supervisor's side. */
export class MetricsExchange {
  /** By name. One may just have exited. */
  readonly #workers: () => ReadonlyMap<string, Child>
  readonly #counts: () => Counts
  readonly #requests = new Map<number, (families: Families) => void>()
  #requestCount = 0

  constructor(workers: () => ReadonlyMap<string, Child>, counts: () => Counts) {
    this.#workers = workers
    this.#counts = counts
  }

  receive(message: unknown, from: Child): void {
    if (!isAboutMetrics(message)) return
    const { metrics } = message as FromWorker
    if (metrics === 'response') {
      const { request, families } = message as Extract<FromWorker, { metrics: 'response' }>
      this.#requests.get(request)?.(families)
      return
    }
    const { scrape } = message as Extract<FromWorker, { metrics: 'scrape' }>
    void this.#collect().then(families => sendTo(from, { metrics: 'result', scrape, families }))
  }

  async #collect(): Promise<Families> {
    const collected = new Map<string, Families>()
    await Promise.all(
      Array.from(this.#workers(), async ([name, worker]) => {
        const families = await this.#request(worker)
        if (families !== undefined) collected.set(name, families)
      }),
    )
    const inOrder = new Map([...collected].sort(([one], [other]) => Number(one) - Number(other)))
    return [...this.#supervisorMetrics(collected.size), ...byWorker(inOrder)]
  }

  async #request(worker: Child): Promise<Families | undefined> {
    const request = ++this.#requestCount
    const response = Promise.withResolvers<Families>()
    this.#requests.set(request, response.resolve)
    sendTo(worker, { metrics: 'request', request })
    const families = await Promise.race([
      response.promise,
      Bun.sleep(COLLECT_MILLISECONDS).then(() => undefined),
    ])
    this.#requests.delete(request)
    return families
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
    const scrapes = new Map<number, (families: Families) => void>()
    let scrapeCount = 0
    process.on('message', (message: unknown) => {
      if (!isAboutMetrics(message)) return
      const received = message as FromSupervisor
      if (received.metrics === 'request')
        sendToSupervisor({ metrics: 'response', request: received.request, families: own() })
      else scrapes.get(received.scrape)?.(received.families)
    })
    return async () => {
      const scrape = ++scrapeCount
      const response = Promise.withResolvers<Families>()
      scrapes.set(scrape, response.resolve)
      sendToSupervisor({ metrics: 'scrape', scrape })
      const all = await Promise.race([response.promise, Bun.sleep(SCRAPE_MILLISECONDS).then(() => undefined)])
      scrapes.delete(scrape)
      return all ?? byWorker(new Map([[worker, own()]]))
    }
  }
}

const isAboutMetrics = (message: unknown) =>
  typeof message === 'object' && message !== null && 'metrics' in message

const sendToSupervisor = (message: FromWorker) => process.send?.(message)

/** Ignores a child that has just exited. */
function sendTo(child: Child, message: FromSupervisor): void {
  try {
    child.send(message)
  } catch {}
}
