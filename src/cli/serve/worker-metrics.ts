/**
 * A scrape reaches one of several workers, and each has counted for itself. So that the answer is about all of them, the
 * worker that was asked asks the supervisor, that one asks every worker, and what comes back is told apart by a label. A
 * worker that does not answer in time is left out, and `strand_workers_answering` says so.
 */
import { byWorker, type MetricFamily, Metrics } from '../../kit/metrics.ts'

const MAX_WAIT_MILLISECONDS = 1000
/** The supervisor may have to wait for a worker that hangs. */
const LONGER_MILLISECONDS = 2 * MAX_WAIT_MILLISECONDS

type Families = readonly MetricFamily[]

/** From a worker: a wish to know, and the answer to a question. */
type FromWorker =
  | { readonly metrics: 'wanted'; readonly scrape: number }
  | { readonly metrics: 'told'; readonly question: number; readonly families: Families }

/** From the supervisor: a question to every worker, and what all of them said. */
type FromSupervisor =
  | { readonly metrics: 'asked'; readonly question: number }
  | { readonly metrics: 'gathered'; readonly scrape: number; readonly families: Families }

interface Child {
  send(message: FromSupervisor): void
}

/** What the supervisor has counted. */
interface Counts {
  /** How many workers there should be. */
  readonly wanted: number
  readonly serving: number
  readonly restarts: number
  readonly stalls: number
}

/** The supervisor's end. */
export class MetricsExchange {
  /** Those that were started, by name; one may just have died. */
  readonly #workers: () => ReadonlyMap<string, Child>
  readonly #counts: () => Counts
  readonly #questions = new Map<number, (families: Families) => void>()
  #asked = 0

  constructor(workers: () => ReadonlyMap<string, Child>, counts: () => Counts) {
    this.#workers = workers
    this.#counts = counts
  }

  receive(message: unknown, from: Child): void {
    if (!isAboutMetrics(message)) return
    const { metrics } = message as FromWorker
    if (metrics === 'told') {
      const { question, families } = message as Extract<FromWorker, { metrics: 'told' }>
      this.#questions.get(question)?.(families)
      return
    }
    const { scrape } = message as Extract<FromWorker, { metrics: 'wanted' }>
    void this.#gather().then(families => sendTo(from, { metrics: 'gathered', scrape, families }))
  }

  async #gather(): Promise<Families> {
    const reported = new Map<string, Families>()
    await Promise.all(
      Array.from(this.#workers(), async ([name, worker]) => {
        const families = await this.#ask(worker)
        if (families !== undefined) reported.set(name, families)
      }),
    )
    const inOrder = new Map([...reported].sort(([one], [other]) => Number(one) - Number(other)))
    return [...this.#own(reported.size), ...byWorker(inOrder)]
  }

  async #ask(worker: Child): Promise<Families | undefined> {
    const question = ++this.#asked
    const answer = Promise.withResolvers<Families>()
    this.#questions.set(question, answer.resolve)
    sendTo(worker, { metrics: 'asked', question })
    const families = await Promise.race([
      answer.promise,
      Bun.sleep(MAX_WAIT_MILLISECONDS).then(() => undefined),
    ])
    this.#questions.delete(question)
    return families
  }

  #own(answering: number): Families {
    const metrics = new Metrics()
    const { wanted, serving, restarts, stalls } = this.#counts()
    metrics.gauge('strand_workers', 'Configured number of workers.', wanted)
    metrics.gauge('strand_workers_serving', 'Workers that accept connections.', serving)
    metrics.gauge('strand_workers_answering', 'Workers whose metrics are in this answer.', answering)
    metrics.counter('strand_worker_restarts_total', 'Workers replaced after they ended.', restarts)
    metrics.counter('strand_worker_stalls_total', 'Workers killed because they did not respond.', stalls)
    return metrics.families
  }
}

/** A worker's end: answers questions, and has what all of them said when it is scraped. */
export function shareMetrics(worker: string) {
  return (own: () => Families): (() => Promise<Families>) => {
    const scrapes = new Map<number, (families: Families) => void>()
    let scraped = 0
    process.on('message', (message: unknown) => {
      if (!isAboutMetrics(message)) return
      const said = message as FromSupervisor
      if (said.metrics === 'asked') report({ metrics: 'told', question: said.question, families: own() })
      else scrapes.get(said.scrape)?.(said.families)
    })
    return async () => {
      const scrape = ++scraped
      const answer = Promise.withResolvers<Families>()
      scrapes.set(scrape, answer.resolve)
      report({ metrics: 'wanted', scrape })
      const gathered = await Promise.race([
        answer.promise,
        Bun.sleep(LONGER_MILLISECONDS).then(() => undefined),
      ])
      scrapes.delete(scrape)
      return gathered ?? byWorker(new Map([[worker, own()]]))
    }
  }
}

const isAboutMetrics = (message: unknown) =>
  typeof message === 'object' && message !== null && 'metrics' in message

const report = (message: FromWorker) => process.send?.(message)

/** A worker that has just died hears nothing more, and is left out. */
function sendTo(child: Child, message: FromSupervisor): void {
  try {
    child.send(message)
  } catch {}
}
