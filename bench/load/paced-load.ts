/**
 * A load generator with a fixed rate. wrk asks as fast as it is answered: it can find out how much a server bears, but not
 * how a server feels that has time to spare. Here every request has a moment at which it is due. Its latency counts from
 * that moment, not from when a connection was free for it: else a server that stands still for a second would have made
 * one slow answer and not thousands (coordinated omission). Due requests are looked for every millisecond, so latencies
 * are up to one millisecond too long.
 * `bun bench/load/paced-load.ts <plan.json>`; prints a line of JSON for every stretch of the time.
 */
import { readFileSync } from 'node:fs'
import { Latencies } from '../report/latencies.ts'
import type { BenchRequest } from '../scenarios/scenario.ts'
import { HttpConnection, type RawAnswer } from './http-connection.ts'
import { requestBytes } from './request-bytes.ts'

export interface PacedPlan {
  readonly url: string
  readonly seconds: number
  readonly reportEverySeconds: number
  readonly flows: readonly Flow[]
}

/** Requests that are sent around in a circle, evenly spaced. */
export interface Flow {
  readonly name: string
  readonly perSecond: number
  readonly connections: number
  /** When it begins and ends; the whole time if left out. */
  readonly fromSecond?: number
  readonly toSecond?: number
  readonly requests: readonly PacedRequest[]
}

export interface PacedRequest extends BenchRequest {
  /** Whenever its turn comes again it asks for the page after the last, until it has seen so many. */
  readonly pages?: number
}

export interface PacedReport {
  readonly flows: Readonly<Record<string, FlowReport>>
  /** How much later than due requests were taken up: the generator's own weakness. */
  readonly delays: readonly number[]
}

interface FlowReport {
  readonly latencies: readonly number[]
  readonly errors: number
  /** The first of the errors, in words. */
  readonly violation?: string
}

const LAST_ANSWERS_MILLISECONDS = 5000

/** A request in its circle, with the place of its walk. */
interface Turn {
  readonly request: PacedRequest
  readonly bytes: Uint8Array
  cursor?: string | undefined
  page: number
}

class RunningFlow {
  readonly #flow: Flow
  readonly #address: URL
  readonly #turns: readonly Turn[]
  readonly #free: HttpConnection[] = []
  readonly #due: number[] = []
  readonly #delays: () => Latencies
  #latencies = new Latencies()
  #errors = 0
  #violation: string | undefined
  #sent = 0
  #taken = 0
  #pending = 0
  #closing = false

  constructor(flow: Flow, address: URL, delays: () => Latencies) {
    this.#flow = flow
    this.#address = address
    this.#delays = delays
    this.#turns = flow.requests.map(request => ({ request, bytes: requestBytes(address, request), page: 0 }))
  }

  async open(): Promise<void> {
    for (let opened = 0; opened < this.#flow.connections; opened++) await this.#connect()
  }

  /** Takes up what is due by now. */
  advance(began: number, now: number): void {
    const { perSecond, fromSecond = 0, toSecond = Infinity } = this.#flow
    for (;;) {
      const second = fromSecond + this.#taken / perSecond
      const due = began + second * 1000
      if (due > now || second >= toSecond) break
      this.#taken += 1
      this.#delays().add(now - due)
      this.#due.push(due)
    }
    this.#send()
  }

  isDone(): boolean {
    return this.#due.length === 0 && this.#pending === 0
  }

  /** What happened since the last report. */
  report(): FlowReport {
    const violation = this.#violation
    const report = {
      latencies: this.#latencies.toJSON(),
      errors: this.#errors,
      ...(violation !== undefined && { violation }),
    }
    this.#latencies = new Latencies()
    this.#errors = 0
    this.#violation = undefined
    return report
  }

  /** Whoever is not answered by now will not be. */
  close(): void {
    this.#closing = true
    const unanswered = this.#due.length + this.#pending
    if (unanswered > 0) this.#fail(`${unanswered} were not answered`, unanswered)
    for (const connection of this.#free) connection.close()
  }

  async #connect(): Promise<void> {
    const { hostname, port } = this.#address
    const connection = await HttpConnection.open(hostname, Number(port), () => this.#replace(connection))
    this.#free.push(connection)
  }

  #replace(connection: HttpConnection): void {
    const place = this.#free.indexOf(connection)
    if (place >= 0) this.#free.splice(place, 1)
    if (this.#closing) return
    this.#connect().catch((error: Error) => this.#fail(`no connection: ${error.message}`))
  }

  /** The connection that has rested longest goes first: so none of them rests until the server closes it. */
  #send(): void {
    while (this.#due.length > 0) {
      const connection = this.#free.shift()
      if (connection === undefined) return
      const due = this.#due.shift() ?? Number.NaN
      const turn = this.#turns[this.#sent++ % this.#turns.length]
      if (turn === undefined) throw new Error(`the flow ${this.#flow.name} has no requests`)
      this.#pending += 1
      connection.ask(this.#bytesOf(turn), answer => {
        this.#pending -= 1
        if (this.#closing) return
        this.#note(turn, answer, due)
        if (answer === 'broken') return
        this.#free.push(connection)
        this.#send()
      })
    }
  }

  #bytesOf({ request, bytes, cursor }: Turn): Uint8Array {
    if (cursor === undefined) return bytes
    const path = `${request.path}${request.path.includes('?') ? '&' : '?'}after=${encodeURIComponent(cursor)}`
    return requestBytes(this.#address, { ...request, path })
  }

  #note(turn: Turn, answer: RawAnswer | 'broken', due: number): void {
    const { method = 'GET', path, pages } = turn.request
    const asked = `${method} ${path}`
    let cursor: string | undefined
    if (answer === 'broken') this.#fail(`${asked}: the connection broke`)
    else if (answer.status < 200 || answer.status > 299)
      this.#fail(`${asked} answered ${answer.status}: ${answer.body()}`)
    else {
      this.#latencies.add(performance.now() - due)
      if (pages !== undefined && turn.page + 1 < pages) cursor = /"cursor":"([^"]+)"/.exec(answer.body())?.[1]
    }
    turn.cursor = cursor
    turn.page = cursor === undefined ? 0 : turn.page + 1
  }

  #fail(violation: string, errors = 1): void {
    this.#errors += errors
    this.#violation ??= violation
  }
}

async function runPaced(plan: PacedPlan, print: (report: PacedReport) => void): Promise<void> {
  let delays = new Latencies()
  const flows = plan.flows.map(flow => ({
    name: flow.name,
    running: new RunningFlow(flow, new URL(plan.url), () => delays),
  }))
  await Promise.all(flows.map(({ running }) => running.open()))
  const report = () => {
    print({
      flows: Object.fromEntries(flows.map(({ name, running }) => [name, running.report()])),
      delays: delays.toJSON(),
    })
    delays = new Latencies()
  }
  const began = performance.now()
  const end = began + plan.seconds * 1000
  let nextReport = began + plan.reportEverySeconds * 1000
  for (let now = began; now < end; now = performance.now()) {
    for (const { running } of flows) running.advance(began, now)
    // The last stretch is reported when its last answers are there.
    if (now >= nextReport && nextReport < end) {
      report()
      nextReport += plan.reportEverySeconds * 1000
    }
    await Bun.sleep(1)
  }
  const maxWait = performance.now() + LAST_ANSWERS_MILLISECONDS
  while (performance.now() < maxWait && !flows.every(({ running }) => running.isDone())) await Bun.sleep(1)
  for (const { running } of flows) running.close()
  report()
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) {
    console.error('bench/load/paced-load.ts needs the file with its plan')
    process.exit(2)
  }
  await runPaced(JSON.parse(readFileSync(file, 'utf8')) as PacedPlan, report =>
    console.log(JSON.stringify(report)),
  )
  process.exit(0)
}
