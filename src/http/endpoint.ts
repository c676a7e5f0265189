/**
 * The interpreter of a declaration: takes one request through the checks in the order of D-9 and hands what is left to
 * the operation's code. Everything that can be decided from the declaration alone is decided once.
 */
import { type Resolution, resolveCaller, resolveOperator } from '../auth/callers.ts'
import { type Family, familyOf, type Operation } from '../contract/operation.ts'
import { LARGEST_PAGE, type Window } from '../contract/page.ts'
import { raise } from '../contract/problem.ts'
import { refusal } from '../domain/access.ts'
import { type Caller, isTokenCaller } from '../domain/caller.ts'
import { lazily } from '../kit/lazily.ts'
import type { Call, Implementation, Rooms } from '../operations/implement.ts'
import { readBody } from './body.ts'
import type { Cursors } from './cursor.ts'
import { addRateHeaders, type HeaderBag } from './headers.ts'
import { HotAnswers } from './hot-answers.ts'
import {
  createInputReader,
  type Fields,
  type InputReader,
  type Pairs,
  parseForm,
  parseJsonObject,
  splitPairs,
} from './parse.ts'
import type { RateLimiter } from './rate-limit.ts'
import { createReplyWriter } from './reply.ts'

const PUBLIC_BODY_BYTES = 64 * 1024
const OPERATOR_BODY_BYTES = 4 * 1024 * 1024
const SLOW_MILLISECONDS = 5000
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** What endpoints share. */
export interface Counter {
  readonly rooms: Rooms
  readonly cursors: Cursors
  readonly limiter: RateLimiter
  readonly operatorToken: string
  readonly checkReplies: boolean
}

/** One request on its way in. */
export interface Arrival {
  readonly request: Request
  readonly search: string
  readonly params: Readonly<Record<string, string>>
  /** Whose bucket is used where no token resolves; asking the runtime costs, so it is asked only then. */
  readonly address: () => string
  /** The headers of the answer, filled as the checks go on, so that a failure carries them too. */
  readonly headers: HeaderBag
}

export class Endpoint {
  readonly operation: Operation
  readonly family: Family
  readonly #handle: Implementation['handle']
  readonly #versionOf: Implementation['versionOf']
  readonly #hot = new HotAnswers()
  readonly #reader: () => InputReader
  readonly #write: (answer: unknown) => string
  readonly #counter: Counter

  constructor(implementation: Implementation, counter: Counter) {
    this.operation = implementation.operation
    this.family = familyOf(this.operation)
    this.#handle = implementation.handle
    this.#versionOf = implementation.versionOf
    this.#reader = lazily(() => createInputReader(this.operation))
    this.#write = createReplyWriter(this.operation, { checked: counter.checkReplies })
    this.#counter = counter
  }

  async answer(arrival: Arrival): Promise<Response> {
    const caller = await this.#admit(arrival)
    await this.#sufferFault(arrival)
    const version = this.#versionOf?.(this.#counter.rooms)
    if (version === undefined) return this.#reply(arrival, caller, await this.#ask(arrival, caller))
    const question = `${ownerOf(caller)}?${arrival.search}`
    const kept = this.#hot.find(version, question)
    if (kept !== undefined) return this.#reply(arrival, caller, kept)
    const text = await this.#ask(arrival, caller)
    this.#hot.keep(version, question, text)
    return this.#reply(arrival, caller, text)
  }

  async #ask(arrival: Arrival, caller: Caller): Promise<string> {
    const call = await this.#read(arrival, caller)
    return this.#write(await this.#handle(call, this.#counter.rooms))
  }

  /** Token, rate limit, client, kind, scope. */
  async #admit(arrival: Arrival): Promise<Caller> {
    const { request, address, headers } = arrival
    const resolution = await this.#resolve(arrival)
    const caller: Caller = resolution === 'invalid' ? { kind: 'anonymous' } : resolution
    if (this.family === 'helix') takePoint(this.#counter.limiter, caller, address, headers)
    if (resolution === 'invalid') raise(this.family === 'control' ? 'operator_required' : 'token_invalid')
    requireSameClient(caller, request.headers.get('client-id'))
    const refused = refusal(this.operation.access, caller)
    if (refused !== undefined) throw refused
    return caller
  }

  async #resolve({ request, address, headers }: Arrival): Promise<Resolution> {
    const authorization = request.headers.get('authorization')
    if (this.operation.access.kind === 'open') return { kind: 'anonymous' }
    if (this.family === 'control') return resolveOperator(this.#counter.operatorToken, authorization)
    const { callers, clock } = this.#counter.rooms
    try {
      return await resolveCaller(callers, authorization, clock.now())
    } catch (error) {
      // Who it is cannot be told while the store is away; the answer carries its headers all the same.
      addRateHeaders(headers, this.#counter.limiter.take({ kind: 'anonymous' }, address))
      throw error
    }
  }

  /** In demo mode the operator may have planned a failure for this call. */
  async #sufferFault({ headers }: Arrival): Promise<void> {
    const outcome = this.#counter.rooms.demo?.faults.take(this.operation.id)
    if (outcome === 'unavailable') raise('unavailable')
    if (outcome === 'slow') await Bun.sleep(SLOW_MILLISECONDS)
    if (outcome === 'rate_limited') {
      if (this.family === 'helix') headers['Ratelimit-Remaining'] = '0'
      raise('rate_limited')
    }
  }

  /** Parameters and body, checked and typed; the cursor opened. */
  async #read({ request, search, params }: Arrival, caller: Caller): Promise<Call<Operation>> {
    const { operation } = this
    const pairs = splitPairs(search)
    const idempotencyKey = operation.idempotent ? idempotencyKeyOf(request) : undefined
    const reader = this.#reader()
    const fields = reader.query(pairs)
    const path = reader.params(params)
    const body = operation.body === undefined ? {} : await this.#readBody(request, pairs)
    const { first, after, before, ...filters } = fields
    let binding: string | undefined
    const bindingOnce = () => {
      binding ??= bindingOf(operation, { ...path, ...filters }, caller)
      return binding
    }
    return {
      params: path as never,
      query: filters as never,
      body: body as never,
      caller,
      window: this.#window(fields, bindingOnce),
      authorization: request.headers.get('authorization'),
      idempotencyKey,
      paginate: (page, keyOf, memory) => {
        const [top, bottom] = [page.rows[0], page.rows.at(-1)]
        if (!page.more || top === undefined || bottom === undefined) return {}
        const bookmark = { first: keyOf(top), last: keyOf(bottom), memory }
        return { cursor: this.#counter.cursors.seal(bindingOnce(), bookmark) }
      },
    }
  }

  async #readBody(request: Request, pairs: Pairs): Promise<Fields> {
    const limit = this.family === 'control' ? OPERATOR_BODY_BYTES : PUBLIC_BODY_BYTES
    const bytes = await readBody(request, limit)
    const isForm = request.headers
      .get('content-type')
      ?.toLowerCase()
      .startsWith('application/x-www-form-urlencoded')
    if (isForm && this.family === 'oauth') {
      return this.#reader().body({}, [...pairs, ...parseForm(bytes)])
    }
    return this.#reader().body(parseJsonObject(bytes), pairs)
  }

  #window(fields: Fields, binding: () => string): Window {
    const rule = this.operation.page
    if (rule === undefined) return { first: LARGEST_PAGE, direction: 'forward' }
    const after = fields.after as string | undefined
    const before = fields.before as string | undefined
    if (after !== undefined && before !== undefined) raise('both_cursors')
    const isBatch = rule.wholeBatchOf?.some(name => fields[name] !== undefined) ?? false
    const first = (fields.first as number | undefined) ?? (isBatch ? LARGEST_PAGE : rule.standard)
    const cursor = after ?? before
    if (cursor === undefined) return { first, direction: 'forward' }
    const bookmark = this.#counter.cursors.open(binding(), cursor) ?? raise('invalid_cursor')
    return {
      first,
      direction: before === undefined ? 'forward' : 'backward',
      from: before === undefined ? bookmark.last : bookmark.first,
      ...(bookmark.memory && { memory: bookmark.memory }),
    }
  }

  #reply({ headers }: Arrival, caller: Caller, body: string | Uint8Array<ArrayBuffer>): Response {
    const { cacheSeconds, returns, status = 200 } = this.operation
    if (cacheSeconds !== undefined) {
      headers.Vary = 'Authorization'
      if (caller.kind === 'anonymous') headers['Cache-Control'] = `public, max-age=${cacheSeconds}`
    }
    if (returns === undefined) {
      delete headers['Content-Type']
      return new Response(null, { status, headers })
    }
    return new Response(body, { status, headers })
  }
}

/** Every answer of the family costs a point, whatever it says; an empty bucket is answered 429 (D-9, D-17). */
function takePoint(limiter: RateLimiter, caller: Caller, address: () => string, headers: HeaderBag): void {
  const allowance = limiter.take(caller, address)
  addRateHeaders(headers, allowance)
  if (!allowance.allowed) raise('rate_limited')
}

/** A `Client-Id` that is sent along with a token must be the token's (D-3). */
function requireSameClient(caller: Caller, client_id: string | null): void {
  if (client_id === null || client_id === '' || !isTokenCaller(caller)) return
  if (client_id !== caller.client_id) raise('client_mismatch')
}

function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  return IDEMPOTENCY_KEY.test(key) ? key : raise('bad_idempotency_key')
}

/** What a cursor belongs to: the operation, its filters in any order, and the caller. */
function bindingOf(operation: Operation, filters: Fields, caller: Caller): string {
  const canonical = Object.entries(filters)
    .map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  return JSON.stringify([operation.id, canonical, ownerOf(caller)])
}

/** Who a cursor, or a kept answer, belongs to. */
function ownerOf(caller: Caller): string {
  if (caller.kind === 'user') return `user ${caller.client_id} ${caller.user_id}`
  return caller.kind === 'app' ? `app ${caller.client_id}` : caller.kind
}
