/** Sends requests sequentially and checks every response against the OpenAPI document. */
import type { World } from '../../src/demo/described-world.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { type Exchange, violationsOf } from './check-answer.ts'
import { RawConnection } from './connection.ts'
import { type ApiDocument, type DescribedOperation, operationsOf } from './document.ts'
import { Known } from './known.ts'
import { bytesOf, curlOf } from './request.ts'
import { type MadeRequest, makeRequest } from './requests.ts'

/** Requests between two resets of the world; without them most ids would be deleted eventually. */
const RESET_AFTER = 400
/** How often a drawn operation that disrupts all others is actually sent. */
const DISRUPTING_SHARE = 0.15
const MAX_CASES = 20
/** Spreads the seeds of neighbouring requests. */
const SPREAD = 2_654_435_761

/** What makes the things that an operation is about, where that takes several requests that fit together. */
const NEEDED_BY: Readonly<Record<string, readonly string[]>> = {
  ClaimDrop: ['AddWatchedMinutes'],
  DeleteEventSubSubscription: ['CreateEventSubSubscription'],
  DeleteEventSubscription: ['CreateEventSubSubscription'],
  ResendDelivery: ['CreateEventSubSubscription', 'StartStream', 'EndStream', 'ListDeliveries'],
}

/** Sent right after one of these succeeded; otherwise later requests would fail. */
const AFTERMATH: Readonly<Record<string, string>> = {
  PlanFault: 'ClearFaults',
  AdvanceClock: 'ResetWorld',
  SaveSnapshot: 'ResetWorld',
}
const DISRUPTING = new Set([...Object.keys(AFTERMATH), 'ResetWorld', 'ExportLines'])

export interface Tally {
  asked: number
  succeeded: number
}

/** A response that violates the document. */
export interface Case {
  readonly operation: string
  readonly violation: string
  readonly curl: string
  readonly number: number
}

/** Needs an encoder: no request connects a publisher. */
const OUT_OF_REACH: ReadonlySet<string> = new Set(['KickPublisher'])

export class Fuzzer {
  readonly tallies = new Map<string, Tally>()
  /** Responses by status; 0 means no response. */
  readonly statuses = new Map<number, number>()
  /** Requests with a malformed or oversized head. */
  broken = 0
  /** The first of each kind. */
  readonly cases: Case[] = []
  violations = 0
  longestMilliseconds = 0
  readonly #known: Known
  readonly #document: ApiDocument
  readonly #operations: readonly DescribedOperation[]
  readonly #connection: RawConnection
  readonly #url: string
  readonly #seed: number
  readonly #spoil: ((exchange: Exchange) => Exchange['answer']) | undefined
  readonly #kinds = new Set<string>()
  #number = 0
  #next: string | undefined

  constructor(options: {
    document: ApiDocument
    world: World
    /** A URL that receives events. */
    callback: string
    seed: number
    /** A planted bug. */
    spoil?: (exchange: Exchange) => Exchange['answer']
  }) {
    this.#document = options.document
    this.#operations = operationsOf(options.document)
    this.#url = options.world.base_url
    this.#connection = new RawConnection(this.#url)
    this.#seed = options.seed
    this.#spoil = options.spoil
    this.#known = new Known(options.world, options.callback)
    for (const { operationId } of this.#operations) this.tallies.set(operationId, { asked: 0, succeeded: 0 })
  }

  get sent(): number {
    return this.#number
  }

  /** Sends `requests` requests, or fewer if `enough`. */
  async run(requests: number, enough: () => boolean = () => false): Promise<void> {
    for (let count = 0; count < requests && !enough(); count++) await this.#askOne()
    this.#connection.close()
  }

  /** Sends up to `requests` more until every operation has succeeded; every second one targets a missing operation. */
  async reachAll(requests: number): Promise<void> {
    for (let count = 0; count < requests && this.unreached.length > 0; count++) {
      const turn = count >> 1
      const missing = this.unreached[turn % this.unreached.length] ?? ''
      this.#next ??= count % 2 === 0 ? missing : NEEDED_BY[missing]?.[turn % NEEDED_BY[missing].length]
      await this.#askOne()
    }
    this.#connection.close()
  }

  get unreached(): string[] {
    const missed = [...this.tallies].filter(([, { succeeded }]) => succeeded === 0)
    return missed.map(([operation]) => operation).filter(operation => !OUT_OF_REACH.has(operation))
  }

  async #askOne(): Promise<void> {
    this.#number += 1
    const random = new SeededRandom((this.#seed + Math.imul(this.#number, SPREAD)) >>> 0)
    const wanted = this.#number % RESET_AFTER === 0 ? 'ResetWorld' : this.#next
    this.#next = undefined
    const operation = this.#operations.find(each => each.operationId === wanted) ?? this.#draw(random)
    const made = makeRequest(operation, this.#known, random, wanted === undefined ? undefined : true)
    const { request } = made
    const began = performance.now()
    const real = await this.#connection.ask(bytesOf(request, new URL(this.#url).host))
    this.longestMilliseconds = Math.max(this.longestMilliseconds, performance.now() - began)
    // The next request could be parsed as part of the malformed one.
    if (request.isBroken) this.#connection.close()
    const exchange: Exchange = { operation, request, answer: real }
    const answer = this.#spoil?.(exchange) ?? real
    this.#judge({ ...exchange, answer })
    this.#count({ ...exchange, answer: real }, made)
  }

  #draw(random: SeededRandom): DescribedOperation {
    for (;;) {
      const drawn = random.pick(this.#operations)
      if (DISRUPTING.has(drawn.operationId) && random.next() > DISRUPTING_SHARE) continue
      // Operations that have not succeeded yet are drawn more often.
      const isReached = (this.tallies.get(drawn.operationId)?.succeeded ?? 0) > 0
      if (!isReached || random.next() < 0.5) return drawn
    }
  }

  #judge(exchange: Exchange): void {
    const named = this.#document.components.schemas
    for (const violation of violationsOf(exchange, named)) {
      this.violations += 1
      const { operationId } = exchange.operation
      const kind = `${operationId} ${violation.slice(0, 60)}`
      if (this.#kinds.has(kind) || this.cases.length >= MAX_CASES) continue
      this.#kinds.add(kind)
      const curl = curlOf(exchange.request, this.#url)
      this.cases.push({ operation: operationId, violation, curl, number: this.#number })
    }
  }

  #count({ operation, request, answer }: Exchange, { params, query, authorization }: MadeRequest): void {
    if (request.isBroken) {
      this.broken += 1
      return
    }
    const status = typeof answer === 'string' ? 0 : answer.status
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (typeof answer === 'string') return
    const tally = this.tallies.get(operation.operationId)
    if (tally === undefined) return
    tally.asked += 1
    if (status < 200 || status > 299) return
    tally.succeeded += 1
    if (operation.operationId === 'ResetWorld') this.#known.forget()
    this.#next = AFTERMATH[operation.operationId]
    const isJson = answer.headers.get('content-type') === 'application/json'
    this.#known.learn(
      operation,
      { params, query, authorization },
      isJson ? JSON.parse(answer.body.toString('utf8')) : undefined,
    )
  }
}
