/**
 * Sends requests to the callbacks of webhooks. Receivers are not trusted: the address is checked for every connection, an
 * answer is bounded in time and size, and only its status is interpreted.
 *
 * Connections are kept open for the next request to the same host, because opening one costs more than a request. A kept
 * connection stays at the address that was checked, whatever the name means by now. Receivers close idle connections when
 * they like, so a request that finds its kept connection closed is sent once more on a new one.
 */
import { lookup as lookUp } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { ReceiverAnswer } from '../domain/events/delivery-outcome.ts'
import type { CallbackRule } from '../domain/events/event-subscription.ts'
import { lazy } from '../kit/lazy.ts'
import type { AddressShares } from './address-shares.ts'
import { isPublicAddress } from './callback-address.ts'
import { KeptConnections } from './kept-connections.ts'
import { describeFailure, type Exchanged, ReceiverConnection } from './receiver-connection.ts'

/** A host may have addresses in networks that this machine does not reach. */
const MAX_ADDRESSES_TRIED = 2
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'])

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
  readonly #kept = new KeptConnections()
  readonly #ca: readonly string[] | undefined

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    const { authority } = options
    this.#ca = authority === undefined ? undefined : [...publicAuthorities(), authority]
  }

  /** Sends a request. Never throws: a failure is an answer, too. */
  async send(request: WebhookRequest): Promise<ReceiverAnswer> {
    const { milliseconds } = this.#options
    const attempt: Attempt = { isOver: false, connection: undefined }
    const { promise, resolve } = Promise.withResolvers<ReceiverAnswer>()
    const timer = setTimeout(() => {
      attempt.isOver = true
      resolve({ failure: `no answer within ${milliseconds / 1000} s` })
      attempt.connection?.close()
    }, milliseconds)
    this.#sendInTime(request, attempt).then(resolve, error => resolve({ failure: describeFailure(error) }))
    const answer = await promise
    clearTimeout(timer)
    return answer
  }

  /** Closes the connections that are kept. */
  close(): void {
    this.#kept.close()
  }

  async #sendInTime(request: WebhookRequest, attempt: Attempt): Promise<ReceiverAnswer> {
    const url = new URL(request.callback)
    if (!this.#options.rule.allowsUrl(url)) return { failure: 'the callback is not https on port 443' }
    const { shares } = request
    const message = formatRequest(request, url)
    const kept = shares === undefined ? this.#kept.take(url.origin) : undefined
    if (kept !== undefined) {
      const { wasClosed, ...answer } = await this.#exchange(kept, { request, url, message }, attempt)
      // After the deadline it was this process that closed it: there is no time left for another request.
      if (!wasClosed || attempt.isOver) return answer
    }
    const addresses = await this.#resolve(url)
    const leave = shares?.take(addresses)
    if (shares !== undefined && leave === undefined) return { failure: ADDRESS_BUSY }
    try {
      return await this.#sendToAny(addresses, { request, url, message }, attempt)
    } finally {
      leave?.()
    }
  }

  async #sendToAny(addresses: readonly string[], target: Target, attempt: Attempt): Promise<ReceiverAnswer> {
    const { url } = target
    let last: ReceiverAnswer = { failure: 'the name of the host has no address' }
    for (const address of addresses) {
      if (attempt.isOver) break
      const connection = new ReceiverConnection({ url, address, ca: this.#ca })
      const { wasClosed: _, ...answer } = await this.#exchange(connection, target, attempt)
      if (answer.status !== undefined || !UNREACHABLE.has(answer.failure)) return answer
      last = answer
    }
    return last
  }

  async #exchange(
    connection: ReceiverConnection,
    { request, url, message }: Target,
    attempt: Attempt,
  ): Promise<Exchanged> {
    attempt.connection = connection
    const answer = await connection.exchange(message, request.readsAnswer)
    attempt.connection = undefined
    if (request.shares === undefined && connection.isFree) this.#kept.keep(url.origin, connection)
    else connection.close()
    return answer
  }

  /** The addresses to connect to, all checked. */
  async #resolve(url: URL): Promise<readonly string[]> {
    const { rule, resolve = resolveBySystem } = this.#options
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    const found = isIP(literal) === 0 ? await resolve(url.hostname) : [{ address: literal }]
    const addresses = found.map(({ address }) => address)
    if (addresses.length === 0) throw new Error('the name of the host has no address')
    // A name with one address inside and one outside is either a mistake or an attack.
    if (!addresses.every(address => rule.allowsAddress(address)))
      throw new Error('the address of the callback is not public')
    return addresses.slice(0, MAX_ADDRESSES_TRIED)
  }
}

/** A request that is being sent. */
interface Attempt {
  /** Whether the time for an answer is over. */
  isOver: boolean
  /** The connection that it is on. */
  connection: ReceiverConnection | undefined
}

interface Target {
  readonly request: WebhookRequest
  readonly url: URL
  /** The request as it is sent. */
  readonly message: string
}

function formatRequest({ headers, body, shares }: WebhookRequest, url: URL): string {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (/[\r\n\0]/.test(value)) throw new Error(`the header ${name} has a line break`)
    head += `${name}: ${value}\r\n`
  }
  const connection = shares === undefined ? 'keep-alive' : 'close'
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\nUser-Agent: Strand\r\nAccept-Encoding: identity\r\nConnection: ${connection}\r\n\r\n${body}`
}

async function resolveBySystem(host: string): Promise<readonly Resolved[]> {
  return lookUp(host, { all: true })
}

/** Parsed on first use: an import would parse them at every start of a command. */
const publicAuthorities = lazy(() => process.getBuiltinModule('node:tls').rootCertificates)
