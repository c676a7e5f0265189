import type { Family, Operation } from '../contract/operation.ts'
import type { Problem } from '../contract/problem.ts'
import type { Caller } from '../domain/caller.ts'
import { uuid } from '../kit/id.ts'
import type { Allowance } from './rate-limit.ts'
import type { Tally } from './traffic.ts'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** One request, and what has become known of it on its way: a failure tells the same as a success. */
export class RequestContext {
  readonly request: Request
  readonly headers: Headers
  readonly authorization: string | null
  readonly method: string
  /** With dots resolved by the runtime. */
  readonly path: string
  readonly search: string
  /** The request's own id if it is well formed, else a new one (D-20). */
  readonly requestId: string
  /** Whose bucket is used where no token resolves; asking the runtime costs, so it is asked only then. */
  readonly address: () => string
  /** Lets the connection be silent for longer than others may: the work is long, or the body is. */
  readonly holdOpen: () => void
  /** On the monotonic clock. */
  readonly began = performance.now()
  family: Family | undefined = undefined
  operation: Operation | undefined = undefined
  /** Where it is counted. */
  tally: Tally | undefined = undefined
  /** What is left in the caller's bucket, once a point was taken. */
  allowance: Allowance | undefined = undefined
  failure: Problem | undefined = undefined
  /** Whose token came with it, once that is known. */
  clientKind: Caller['kind'] | undefined = undefined

  constructor(request: Request, address: () => string, holdOpen: () => void = () => undefined) {
    const { headers, url } = request
    const given = headers.get('x-request-id')
    // Without a host the URL has no scheme either.
    const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
    const question = url.indexOf('?', start)
    this.request = request
    this.headers = headers
    this.authorization = headers.get('authorization')
    this.method = request.method
    this.path = question < 0 ? url.slice(start) : url.slice(start, question)
    this.search = question < 0 ? '' : url.slice(question + 1)
    this.requestId = given !== null && REQUEST_ID.test(given) ? given : uuid()
    this.address = address
    this.holdOpen = holdOpen
  }
}
