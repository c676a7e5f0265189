/**
 * Interprets the declaration of an operation: runs the checks of D-9 in order for each request, then calls the handler.
 * Whatever depends on the declaration alone is computed once.
 */
import {
  ANONYMOUS,
  cachedCaller,
  type Resolution,
  resolveCaller,
  resolveOperator,
} from '../../auth/callers.ts'
import { type Family, familyOf, hasAnswer, hasBucket, type Operation } from '../../contract/operation.ts'
import { isRefusal, Problem, raise } from '../../contract/problem.ts'
import { listStrictRules, type StrictRule } from '../../contract/strict.ts'
import { refusal } from '../../domain/access.ts'
import { OPERATOR_CHAIN } from '../../domain/audit.ts'
import { actorName, type Caller, isTokenCaller } from '../../domain/caller.ts'
import { lazy } from '../../kit/lazy.ts'
import { isoMillis } from '../../kit/time/clock.ts'
import type { Faults } from '../../operations/demo/faults.ts'
import {
  type Implementation,
  RawJson,
  type Services,
  StreamedLines,
  TextFile,
} from '../../operations/implement.ts'
import { toLogFields } from '../failure.ts'
import { type Allowance, callerBucket, type Limiter, secondsPerPoint } from '../limits/rate-limit.ts'
import type { RequestContext } from '../request-context.ts'
import type { RequestCounter, RequestMetrics } from '../request-metrics.ts'
import { commonHeaders, ResponseHeaders } from '../responses/response-headers.ts'
import { applyFault } from './apply-fault.ts'
import { readApiBody, readApiPieces } from './body.ts'
import type { Cursors } from './cursor.ts'
import { EndpointCall } from './endpoint-call.ts'
import { Paging } from './paging.ts'
import {
  createInputReader,
  decodeText,
  type InputReader,
  parseForm,
  parseJsonObject,
  parseQuery,
} from './parse.ts'
import { createReplyWriter } from './reply.ts'
import { type CachedResponses, ResponseCache } from './response-cache.ts'
import { toByteStream } from './streamed-body.ts'

const PUBLIC_BODY_BYTES = 64 * 1024
const OPERATOR_BODY_BYTES = 4 * 1024 * 1024
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** Dependencies shared by all endpoints. */
export interface EndpointDependencies {
  readonly services: Services
  readonly cursors: Cursors
  readonly limiter: Limiter
  readonly operatorToken: string
  readonly checkReplies: boolean
  /** Maximum size of a body of lines. */
  readonly importBytes: number
  readonly requestMetrics: RequestMetrics
}

type Params = Readonly<Record<string, string>>

export class Endpoint {
  readonly operation: Operation
  readonly family: Family
  readonly counter: RequestCounter
  readonly isFromMemory: boolean
  readonly #handle: Implementation['handle']
  readonly #versionOf: Implementation['versionOf']
  readonly #handleFromMemory: Implementation['handleFromMemory']
  readonly #cache = new ResponseCache()
  readonly #reader: () => InputReader
  readonly #paging: Paging
  readonly #write: (answer: unknown) => string
  readonly #forAnonymous: ResponseHeaders
  readonly #forCallers: ResponseHeaders
  readonly #withoutBody: ResponseHeaders
  readonly #dependencies: EndpointDependencies
  readonly #status: number
  readonly #hasAnswer: boolean
  readonly #isStrict: boolean
  readonly #strictChecks: readonly StrictCheck[]

  constructor(implementation: Implementation, dependencies: EndpointDependencies) {
    this.operation = implementation.operation
    this.family = familyOf(this.operation)
    this.counter = dependencies.requestMetrics.counterFor(this.operation.id, this.operation.status ?? 200)
    this.isFromMemory = implementation.isFromMemory ?? false
    this.#handle = implementation.handle
    this.#versionOf = implementation.versionOf
    this.#handleFromMemory = implementation.handleFromMemory
    this.#reader = lazy(() => createInputReader(this.operation))
    this.#paging = new Paging(this.operation, dependencies.cursors)
    this.#write = createReplyWriter(this.operation, { checked: dependencies.checkReplies })
    this.#forAnonymous = new ResponseHeaders(successHeaders(this.operation, ANONYMOUS))
    this.#forCallers = new ResponseHeaders(successHeaders(this.operation))
    this.#withoutBody = new ResponseHeaders(withoutType(successHeaders(this.operation)))
    this.#dependencies = dependencies
    this.#status = this.operation.status ?? 200
    this.#hasAnswer = hasAnswer(this.operation)
    this.#isStrict = this.family === 'helix' && dependencies.services.strict
    this.#strictChecks = this.#isStrict ? listStrictChecks(this.operation) : []
  }

  /** A response that is in memory needs no promise; every other one passes through the pipeline. */
  answer(context: RequestContext, params: Params): Response | Promise<Response> {
    return this.#answerFromMemory(context, params) ?? this.#answer(context, params)
  }

  /** The checks of D-9 in order, the injected fault, the handler. */
  async #answer(context: RequestContext, params: Params): Promise<Response> {
    const resolution = this.#cachedCaller(context) ?? (await this.#resolve(context))
    if (hasBucket(this.family)) {
      // Every response costs a point, errors included; an empty bucket is answered with 429 (D-9, D-17).
      const payer = resolution === 'invalid' ? ANONYMOUS : resolution
      const { limiter } = this.#dependencies
      const { address } = context
      this.#requireAllowed(
        context,
        payer,
        limiter.takeLocally(payer, address) ?? (await limiter.take(payer, address)),
      )
    } else this.#takeFromAddress(context)
    const caller = this.#admit(context, resolution)
    const call = this.#read(context, params, caller)
    if (this.operation.body !== undefined) await this.#readBody(call, context)
    const instead = this.#faults && (await this.#injectFault(this.#faults, context, call))
    if (instead !== undefined) return instead
    const cache = this.#cacheFor(context)
    return this.#complete(context, call, cache, await this.#handle(call, this.#servicesFor(caller)))
  }

  async #handleCall(context: RequestContext, call: EndpointCall): Promise<Response> {
    const cache = this.#cacheFor(context)
    const answer = await this.#handle(call, this.#servicesFor(call.caller))
    return this.#complete(context, call, cache, answer)
  }

  #complete(
    context: RequestContext,
    { caller }: EndpointCall,
    cache: CachedResponses | undefined,
    answer: unknown,
  ): Response {
    const body = this.#writeBody(context, answer)
    if (typeof body === 'string') cache?.keep(caller, context.search, body)
    return this.#respond(context, caller, body)
  }

  /** The same as `#answer`; undefined if that has to ask the store, for the caller or a point, or wait for a body or a fault. */
  #answerFromMemory(context: RequestContext, params: Params): Response | Promise<Response> | undefined {
    const cache = this.#cacheFor(context)
    const handle = this.#handleFromMemory
    if (cache === undefined && handle === undefined) return undefined
    if (this.#faults?.concern(this.operation.id)) return undefined
    const resolution = this.#cachedCaller(context)
    if (resolution === undefined || resolution === 'invalid') return undefined
    const cached = cache?.find(resolution, context.search)
    if (cached === undefined && handle === undefined) return undefined
    if (hasBucket(this.family)) {
      const allowance = this.#dependencies.limiter.takeLocally(resolution, context.address)
      if (allowance === undefined) return undefined
      this.#requireAllowed(context, resolution, allowance)
    } else this.#takeFromAddress(context)
    const caller = this.#admit(context, resolution)
    if (cached !== undefined) return this.#respond(context, caller, cached)
    const call = this.#read(context, params, caller)
    const answer = handle?.(call, this.#dependencies.services)
    return answer === undefined
      ? this.#handleCall(context, call)
      : this.#complete(context, call, cache, answer)
  }

  /** The cached responses that are valid now; undefined if the response depends on more than the version of the data. */
  #cacheFor(context: RequestContext): CachedResponses | undefined {
    const version = this.#versionOf?.(this.#dependencies.services, context.search)
    return version === undefined ? undefined : this.#cache.at(version, context.began)
  }

  /** The caller if it is known without asking the store. */
  #cachedCaller(context: RequestContext): Resolution | undefined {
    if (this.operation.access.kind === 'open') return ANONYMOUS
    if (this.family === 'control') return context.operator
    const { callers, clock } = this.#dependencies.services
    return cachedCaller(callers, context.authorization, clock)
  }

  async #resolve(context: RequestContext): Promise<Resolution> {
    const { authorization } = context
    const { callers, clock, store } = this.#dependencies.services
    if (this.family === 'control')
      return resolveOperator(this.#dependencies.operatorToken, store, authorization)
    try {
      return await resolveCaller(callers, authorization, clock)
    } catch (thrown) {
      // The caller is unknown while the store is unavailable, but the response needs its rate limit headers.
      context.allowance = await this.#dependencies.limiter.take(ANONYMOUS, context.address)
      throw thrown
    }
  }

  #requireAllowed(context: RequestContext, payer: Caller, allowance: Allowance): void {
    context.allowance = allowance
    if (allowance.allowed) return
    this.#dependencies.requestMetrics.refuse(callerBucket(payer))
    raise('rate_limited', secondsPerPoint(allowance))
  }

  #takeFromAddress(context: RequestContext): void {
    const { limits } = this.#dependencies.services
    if (this.family === 'oauth' && !this.operation.limitsItself) limits.takeFromAddress(context.address())
    // What is read comes from memory, the same for everyone.
    if (this.family === 'playback' && this.operation.method === 'POST')
      limits.takeForPlayback(context.address())
  }

  /** Checks token, client, kind of token and scope, in this order (D-9). */
  #admit(context: RequestContext, caller: Resolution): Caller {
    if (caller === 'invalid') return raise(this.family === 'control' ? 'operator_invalid' : 'token_invalid')
    context.caller = caller
    if (isTokenCaller(caller)) this.#requireSameClient(caller.client_id, context.headers.get('client-id'))
    if (this.#isStrict && caller.kind === 'anonymous') raise('token_missing')
    const refused = refusal(this.operation.access, caller)
    if (refused !== undefined) throw new Problem(refused)
    return caller
  }

  /** A `Client-Id` sent with a token must match the token (D-3); in strict mode it must be sent. */
  #requireSameClient(client_id: string, header: string | null): void {
    if (header === client_id) return
    if (header !== null && header !== '') raise('client_mismatch')
    if (this.#isStrict) raise('client_id_missing')
  }

  get #faults(): Faults | undefined {
    return this.#dependencies.services.demo?.faults
  }

  /** The response of the fault that was planned for this call, if any. The input decides. */
  async #injectFault(
    faults: Faults,
    context: RequestContext,
    call: EndpointCall,
  ): Promise<Response | undefined> {
    if (!faults.concern(this.operation.id)) return undefined
    const fault = faults.take(this.operation.id, {
      ...(call.filters as object),
      ...(call.body as object),
    })
    return fault && applyFault(fault, this.operation, context)
  }

  #writeBody(context: RequestContext, answer: unknown): ResponseBody {
    if (answer instanceof RawJson) return this.#write(answer)
    if (isRefusal(answer)) throw new Problem(answer)
    if (answer === undefined && this.operation.mayBeEmpty) return undefined
    if (answer instanceof TextFile) return answer
    return answer instanceof StreamedLines
      ? toByteStream(answer, error => this.#logAborted(context, error))
      : this.#write(answer)
  }

  /** The status has already been sent, so the response can only be aborted. */
  #logAborted(context: RequestContext, thrown: unknown): void {
    const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    this.#dependencies.services.log.error(
      { ...toLogFields(context), error },
      'a streamed response was aborted',
    )
  }

  /** Control API handlers get a store that records their changes in the audit log under the name of the operator. */
  #servicesFor(caller: Caller): Services {
    const { services } = this.#dependencies
    if (this.family !== 'control' || this.operation.method === 'GET') return services
    const author = {
      actor: actorName(caller),
      operation: this.operation.id,
      chain: OPERATOR_CHAIN,
      at: isoMillis(services.clock.now()),
    }
    return { ...services, store: services.store.as(author) }
  }

  /** Reads and checks parameters and body, and opens the cursor. */
  #read(context: RequestContext, params: Params, caller: Caller): EndpointCall {
    const { operation } = this
    if (operation.answerLines !== undefined || operation.takesLong) context.holdOpen()
    const reader = this.#reader()
    const query = reader.query(context.search)
    const idempotencyKey =
      operation.idempotent && !this.#isStrict ? readIdempotencyKey(context.headers) : undefined
    for (const check of this.#strictChecks) {
      const refused = check(query)
      if (refused !== undefined) throw new Problem(refused)
    }
    const call = new EndpointCall(context, caller, query, this.#paging)
    call.idempotencyKey = idempotencyKey
    if (operation.params !== undefined) call.params = reader.params(params) as never
    if (operation.bodyLines !== undefined)
      call.bodyPieces = readApiPieces(context.request, this.#dependencies.importBytes)
    if (operation.page !== undefined && operation.body === undefined)
      call.window = this.#paging.readPageRequest(call)
    return call
  }

  async #readBody(call: EndpointCall, context: RequestContext): Promise<void> {
    const { request } = context
    const pairs = parseQuery(context.search)
    const limit = this.family === 'control' ? OPERATOR_BODY_BYTES : PUBLIC_BODY_BYTES
    const bytes = await readApiBody(request, limit)
    context.body = bytes
    context.waitsSince = performance.now()
    const reader = this.#reader()
    const isForm = request.headers
      .get('content-type')
      ?.toLowerCase()
      .startsWith('application/x-www-form-urlencoded')
    if (isForm && this.family === 'oauth') call.body = reader.body({}, pairs, parseForm(bytes)) as never
    else if (this.operation.bodyFrom === 'text') call.bodyText = decodeText(bytes)
    else call.body = reader.body(parseJsonObject(bytes), pairs) as never
    call.window = this.#paging.readPageRequest(call)
  }

  #respond(context: RequestContext, caller: Caller, body: ResponseBody): Response {
    const responseHeaders = caller.kind === 'anonymous' ? this.#forAnonymous : this.#forCallers
    if (body instanceof TextFile)
      return describeFile(responseHeaders.respond(this.#status, body.text, context), body)
    if (body === undefined) return this.#withoutBody.respond(204, null, context)
    return responseHeaders.respond(this.#status, this.#hasAnswer ? body : null, context)
  }
}

/** Undefined: the operation has no answer this time. */
type ResponseBody = string | Blob | ReadableStream<Uint8Array> | TextFile | undefined

/** The headers of a success (D-21). */
function successHeaders(operation: Operation, caller?: Caller): Record<string, string> {
  const { 'Content-Type': type = '', ...common } = commonHeaders(familyOf(operation))
  const { cacheSeconds, returns, answerLines, answerFile } = operation
  const isPublic = cacheSeconds !== undefined && caller?.kind === 'anonymous'
  return {
    ...common,
    ...(returns !== undefined && { 'Content-Type': type }),
    ...(answerLines !== undefined && { 'Content-Type': 'application/x-ndjson' }),
    ...(answerFile !== undefined && fileHeaders(common)),
    ...(cacheSeconds !== undefined && { Vary: 'Authorization' }),
    ...(isPublic && { 'Cache-Control': `public, max-age=${cacheSeconds}` }),
  }
}

const withoutType = ({ 'Content-Type': _, ...headers }: Record<string, string>) => headers

/** A browser saves a file under the type that it is sent with, and the pages of other sites may read its name. */
function fileHeaders({ 'Access-Control-Expose-Headers': exposed }: Readonly<Record<string, string>>) {
  return {
    'X-Content-Type-Options': 'nosniff',
    ...(exposed && { 'Access-Control-Expose-Headers': `${exposed}, Content-Disposition` }),
  }
}

function describeFile(response: Response, { name, mediaType }: TextFile): Response {
  response.headers.set('Content-Type', mediaType)
  response.headers.set('Content-Disposition', `attachment; filename="${name}"`)
  return response
}

type StrictCheck = NonNullable<StrictRule['check']>

function listStrictChecks(operation: Operation): readonly StrictCheck[] {
  return listStrictRules(operation).flatMap(({ check }) => check ?? [])
}

function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  return IDEMPOTENCY_KEY.test(key) ? key : raise('bad_idempotency_key')
}
