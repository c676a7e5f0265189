/**
 * Sends requests to the callbacks of webhooks. Receivers are not trusted: the address is checked for every connection, an
 * answer is bounded in time and size, and only its status is interpreted.
 *
 * Connections are kept open for the next request to the same host, because opening one costs more than a request. A kept
 * connection stays at the address that was checked, whatever the name means by now. Receivers close idle connections when
 * they like, so a request that finds its kept connection closed is sent once more on a new one.
 */
import { lookup as lookUp } from 'node:dns/promises'
import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import { isIP } from 'node:net'
import type { ReceiverAnswer } from '../domain/delivery-outcome.ts'
import type { CallbackRule } from '../domain/event-subscription.ts'
import { lazy } from '../kit/lazy.ts'
import type { AddressShares } from './address-shares.ts'
import { isPublicAddress } from './callback-address.ts'

const MAX_ANSWER_BYTES = 8 * 1024
/** Answers 1xx before the final one; a flood of them would keep this process busy until the time is over. */
const MAX_INFORMATIONAL = 10
const MAX_HEADER_BYTES = 16 * 1024
/** Time for the rest of an answer that is not needed, so that the receiver does not see a broken connection. */
const REST_MILLISECONDS = 1000
const MAX_FAILURE_LENGTH = 200
/** A host may have addresses in networks that this machine does not reach. */
const MAX_ADDRESSES_TRIED = 2
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])
/** Shorter than what common servers wait for the next request, which is 5 s and more. */
const IDLE_MILLISECONDS = 4000
const MAX_IDLE_CONNECTIONS = 256

export interface Resolved {
  readonly address: string
  readonly family: number
}

/** Where requests may be sent to. */
export interface SendRule {
  /** The rule for callbacks may have become stricter since the subscription was created. */
  allowsUrl(url: URL): boolean
  allowsAddress(address: string): boolean
}

export const SEND_RULES: Readonly<Record<CallbackRule, SendRule>> = {
  public: {
    allowsUrl: ({ protocol, port }) => protocol === 'https:' && port === '',
    allowsAddress: isPublicAddress,
  },
  any: { allowsUrl: () => true, allowsAddress: () => true },
}

export interface WebhookSenderOptions {
  readonly rule: SendRule
  /** Trusted besides the well-known certificate authorities, in PEM. */
  readonly authority?: string | undefined
  readonly milliseconds: number
  /** Default: the resolver of the system. */
  resolve?(host: string): Promise<readonly Resolved[]>
}

export interface WebhookRequest {
  readonly callback: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether the body of the answer is needed, or only its status. */
  readonly readsAnswer: boolean
  /** If requests of this kind to one address are limited. Such a request gets a new connection. */
  readonly shares?: AddressShares | undefined
}

/** Nothing was sent: the request can be repeated soon. */
export const ADDRESS_BUSY = 'too many verifications at this address at the same time'

export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #agents: Readonly<Record<string, Agent>>

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    const { authority } = options
    const ca = authority === undefined ? {} : { ca: [...publicAuthorities(), authority] }
    this.#agents = {
      'http:': keepOpen(new Agent(KEPT)),
      'https:': keepOpen(new TlsAgent({ ...KEPT, ...ca })),
    }
  }

  /** Sends a request. Never throws: a failure is an answer, too. */
  async send(request: WebhookRequest): Promise<ReceiverAnswer> {
    const { milliseconds } = this.#options
    const deadline = new AbortController()
    const { promise: late, resolve } = Promise.withResolvers<ReceiverAnswer>()
    const timer = setTimeout(() => {
      resolve({ failure: `no answer within ${milliseconds / 1000} s` })
      deadline.abort()
    }, milliseconds)
    try {
      return await Promise.race([late, this.#sendInTime(request, deadline.signal)])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes the connections that are kept. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  async #sendInTime(request: WebhookRequest, deadline: AbortSignal): Promise<ReceiverAnswer> {
    try {
      const url = new URL(request.callback)
      if (!this.#options.rule.allowsUrl(url)) return { failure: 'the callback is not https on port 443' }
      const resolve = lazy(() => this.#resolve(url))
      if (request.shares !== undefined) return await this.#sendSharing(request, url, resolve, deadline)
      // Of a literal address no name is looked up when the connection is opened.
      if (literalAddress(url) !== undefined) await resolve()
      return await this.#sendToAny(request, url, resolve, deadline)
    } catch (error) {
      return { failure: describeFailure(error) }
    }
  }

  async #sendSharing(request: WebhookRequest, url: URL, resolve: Resolve, deadline: AbortSignal) {
    const leave = request.shares?.take((await resolve()).map(({ address }) => address))
    if (leave === undefined) return { failure: ADDRESS_BUSY }
    deadline.addEventListener('abort', leave, { once: true })
    try {
      return await this.#sendToAny(request, url, resolve, deadline)
    } finally {
      leave()
    }
  }

  async #sendToAny(request: WebhookRequest, url: URL, resolve: Resolve, deadline: AbortSignal) {
    const agent = request.shares === undefined ? this.#agents[url.protocol] : undefined
    for (let index = 0; ; index++) {
      const target = { url, resolve, index, agent }
      const first = await this.#exchange(request, target, deadline)
      // After the deadline it was this process that closed it: there is no time left for another request.
      const { wasClosed, ...answer } =
        first.wasClosed && !deadline.aborted
          ? await this.#exchange(request, { ...target, agent: undefined }, deadline)
          : first
      if (answer.status !== undefined || !UNREACHABLE.has(answer.failure)) return answer
      if (index + 1 >= (await resolve()).length) return answer
    }
  }

  /** The addresses to connect to, all checked. */
  async #resolve(url: URL): Promise<readonly Resolved[]> {
    const { rule, resolve = resolveBySystem } = this.#options
    const literal = literalAddress(url)
    const addresses = literal === undefined ? await resolve(url.hostname) : [literal]
    if (addresses.length === 0) throw new Error('the name of the host has no address')
    // A name with one address inside and one outside is either a mistake or an attack.
    if (!addresses.every(({ address }) => rule.allowsAddress(address)))
      throw new Error('the address of the callback is not public')
    return addresses.slice(0, MAX_ADDRESSES_TRIED)
  }

  /**
   * The request to one address, or on a connection that is open. `fetch` is no alternative: it resolves the name a second time,
   * and obeys the proxy settings of the environment.
   */
  #exchange(
    { headers, body, readsAnswer }: WebhookRequest,
    { url, resolve: resolveName, index, agent }: Target,
    deadline: AbortSignal,
  ): Promise<Exchanged> {
    const { promise, resolve } = Promise.withResolvers<Exchanged>()
    const { authority } = this.#options
    const bytes = Buffer.from(body)
    const options: RequestOptions & { ca?: string[]; rejectUnauthorized: boolean } = {
      method: 'POST',
      agent: agent ?? false,
      maxHeaderSize: MAX_HEADER_BYTES,
      rejectUnauthorized: true,
      headers: {
        ...headers,
        'Content-Length': bytes.length,
        'User-Agent': 'Strand',
        'Accept-Encoding': 'identity',
        ...(agent === undefined && { Connection: 'close' }),
      },
      lookup: (_host, { all }, done) => {
        resolveName().then(
          addresses => {
            const { address, family } = addresses[index] ?? { address: '', family: 4 }
            if (all) done(null, [{ address, family }])
            else done(null, address, family)
          },
          error => done(error, '', 4),
        )
      },
      ...(authority !== undefined && agent === undefined && { ca: [...publicAuthorities(), authority] }),
    }
    const request: ClientRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options)
    let [isAnswered, isOver] = [false, false]
    /** Once the answer is complete, the connection may have the next request. */
    const settle = (answer: Exchanged, isComplete = false) => {
      if (isOver) return
      isOver = true
      resolve(answer)
      if (!isComplete || agent === undefined) request.destroy()
    }
    const fail = (failure: string) =>
      settle(isAnswered || !request.reusedSocket ? { failure } : { failure, wasClosed: true })
    deadline.addEventListener('abort', () => request.destroy(), { once: true })
    request.on('error', error => fail(describeFailure(error)))
    request.on('close', () => fail('the connection was closed without an answer'))
    let informational = 0
    request.on('information', () => {
      isAnswered = true
      informational += 1
      if (informational > MAX_INFORMATIONAL) settle({ failure: 'too many informational answers' })
    })
    request.on('response', response => {
      isAnswered = true
      const status = response.statusCode ?? 0
      const pieces: Buffer[] = []
      let received = 0
      const answer = () => ({ status, body: Buffer.concat(pieces).toString() })
      const finish = () => settle(answer())
      const unneeded = readsAnswer ? undefined : setTimeout(finish, REST_MILLISECONDS)
      response.on('data', (piece: Buffer) => {
        received += piece.length
        if (received > MAX_ANSWER_BYTES) return readsAnswer ? settle({ failure: TOO_LONG }) : finish()
        if (readsAnswer) pieces.push(piece)
      })
      response.on('end', () => settle(answer(), true))
      response.on('error', error => (readsAnswer ? settle({ failure: describeFailure(error) }) : finish()))
      response.on('close', () => clearTimeout(unneeded))
    })
    request.end(bytes)
    return promise
  }
}

type Resolve = () => Promise<readonly Resolved[]>

interface Target {
  readonly url: URL
  readonly resolve: Resolve
  /** Which of the resolved addresses to use. */
  readonly index: number
  /** Has connections that are open. Without one, the connection is closed after the request. */
  readonly agent: Agent | undefined
}

/** `wasClosed`: the connection was kept from an earlier request, and closed before anything of an answer came. */
type Exchanged = ReceiverAnswer & { readonly wasClosed?: true }

const KEPT = { keepAlive: true, timeout: IDLE_MILLISECONDS } as const

/** Bounds the idle connections to all hosts. */
function keepOpen(agent: Agent): Agent {
  const countIdle = () => Object.values(agent.freeSockets).reduce((sum, each) => sum + (each?.length ?? 0), 0)
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = socket => countIdle() < MAX_IDLE_CONNECTIONS && keep(socket)
  return agent
}

function literalAddress({ hostname }: URL): Resolved | undefined {
  const address = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  return family === 0 ? undefined : { address, family }
}

async function resolveBySystem(host: string): Promise<readonly Resolved[]> {
  return lookUp(host, { all: true })
}

const TOO_LONG = `the answer has more than ${MAX_ANSWER_BYTES} bytes`

/** The code if there is one: messages may contain addresses. */
function describeFailure(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message ?? error).slice(0, MAX_FAILURE_LENGTH)
}

/** Parsed on first use: an import would parse them at every start of a command. */
const publicAuthorities = lazy(() => process.getBuiltinModule('node:tls').rootCertificates)
