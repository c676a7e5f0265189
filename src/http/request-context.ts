import type { Family, Operation } from '../contract/operation.ts'
import type { Problem } from '../contract/problem.ts'
import type { CallOutcome, Fault } from '../contract/resources/fault.ts'
import type { Caller } from '../domain/caller.ts'
import type { SocketRequest } from '../events/sockets/event-sockets.ts'
import { uuid } from '../kit/id.ts'
import type { ForwardedAddresses } from './client-address.ts'
import type { ServedFamilies } from './families.ts'
import type { Allowance } from './limits/rate-limit.ts'
import type { RequestCounter } from './request-metrics.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The other end of the connection that a request came through. */
export interface Peer {
  address(): string
  /** Sets the idle timeout, to minutes if no seconds are given. */
  holdOpen(seconds?: number): void
  /** Whether the client has not got the whole response yet. */
  isAnswering(): boolean
  /** Turns the connection into a WebSocket. False: the request does not ask for one. */
  upgrade(request: SocketRequest): boolean
}

/** For requests without a connection. */
export const NO_PEER: Peer = {
  address: () => '',
  holdOpen: () => undefined,
  isAnswering: () => false,
  upgrade: () => false,
}

/** A request and its state while it is handled. Errors and successes are reported from the same fields. */
export class RequestContext {
  readonly request: Request
  readonly headers: Headers
  readonly authorization: string | null
  readonly method: string
  /** Dot segments are resolved by the runtime. */
  readonly path: string
  readonly search: string
  /** The `X-Request-Id` of the request if it is well formed, else a new one (D-20). */
  readonly requestId: string
  /** The families of the listener that it came to. */
  readonly served: ServedFamilies
  readonly peer: Peer
  readonly #forwarded: ForwardedAddresses | undefined
  #address: string | undefined = undefined
  /** On the monotonic clock. */
  readonly began = performance.now()
  /** Since when the client has waited for the answer; infinite while it may be sending a body. */
  waitsSince: number
  /** Whether the connection stays open however long the answer takes. */
  isHeldOpen = false
  family: Family | undefined = undefined
  operation: Operation | undefined = undefined
  /** The counters for this request. */
  counter: RequestCounter | undefined = undefined
  /** Whether the request holds a place of the request queue. */
  hasPlace = false
  /** The state of the caller's bucket after a point was taken. */
  allowance: Allowance | undefined = undefined
  failure: Problem | undefined = undefined
  /** Known once the token is resolved. */
  caller: Caller | undefined = undefined
  /** The part of the body that was read. */
  body: Uint8Array | undefined = undefined
  /** The body of the response, for the journal of a demo. */
  answer: string | Blob | ReadableStream<Uint8Array> | null = null
  /** The fault that a demo injected. */
  plannedFault: Fault | undefined = undefined
  /** Set for a call that the console makes inside this process, for the operator who is logged in. */
  operator: Caller | undefined = undefined

  constructor(request: Request, peer: Peer, served: ServedFamilies = [], forwarded?: ForwardedAddresses) {
    const { headers, url } = request
    const sentId = headers.get('x-request-id')
    // Without a host the URL has no scheme either.
    const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
    const queryMark = url.indexOf('?', start)
    this.request = request
    this.headers = headers
    this.authorization = headers.get('authorization')
    this.method = request.method
    this.waitsSince = BODILESS.has(this.method) ? this.began : Number.POSITIVE_INFINITY
    this.path = queryMark < 0 ? url.slice(start) : url.slice(start, queryMark)
    this.search = queryMark < 0 ? '' : url.slice(queryMark + 1)
    this.requestId = sentId !== null && REQUEST_ID.test(sentId) ? sentId : uuid()
    this.served = served
    this.peer = peer
    this.#forwarded = forwarded
  }

  /**
   * The client address. Lazy, because it is expensive to get and only needed for requests without a valid token. Read once,
   * because that of a client that has hung up is unknown.
   */
  get address(): () => string {
    return () => {
      this.#address ??= this.#readAddress()
      return this.#address
    }
  }

  get fault(): CallOutcome | undefined {
    return this.plannedFault?.outcome as CallOutcome | undefined
  }

  /** Extends the idle timeout of the connection, for long work or a long body. */
  get holdOpen(): (seconds?: number) => void {
    return seconds => {
      this.isHeldOpen = true
      this.peer.holdOpen(seconds)
    }
  }

  /** Turns the connection into a WebSocket; false if the request does not ask for one. */
  upgrade(request: SocketRequest): boolean {
    return this.peer.upgrade(request)
  }

  #readAddress(): string {
    const address = this.peer.address()
    return this.#forwarded?.read(address, this.headers.get('x-forwarded-for')) ?? address
  }
}
