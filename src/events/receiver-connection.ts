/**
 * An HTTP/1.1 connection to the receiver of webhooks, at an address that was checked, for one request at a time. Nothing is
 * sent before the connection is open, which with TLS means that the certificate is valid for the name of the host. The
 * runtime's own HTTP client is no alternative: `fetch` resolves the name a second time and obeys the proxy settings of the
 * environment, and `node:http` takes five times the processor time (ADR 0072).
 */
import { connect, type Socket } from 'node:net'
import tls from 'node:tls'
import type { ReceiverAnswer } from '../domain/events/delivery-outcome.ts'
import { AnswerReader } from './answer-reader.ts'

/** Time for the rest of an answer that is not needed, so that the receiver does not see a broken connection. */
const REST_MILLISECONDS = 1000
const MAX_FAILURE_LENGTH = 200
const CLOSED = 'ECONNRESET'

export interface ReceiverAddress {
  readonly url: URL
  /** The checked address. */
  readonly address: string
  /** Authorities that are trusted instead of the well-known ones. */
  readonly ca?: readonly string[] | undefined
}

/** An answer, and whether the connection was closed before anything of it came. */
export type Exchanged = ReceiverAnswer & { readonly wasClosed?: true }

interface Exchange {
  readonly reader: AnswerReader
  readonly readsAnswer: boolean
  rest: Timer | undefined
  resolve(answer: Exchanged): void
}

export class ReceiverConnection {
  readonly #socket: Socket
  #exchange: Exchange | undefined
  #isOpen = false
  #failure: string | undefined
  /** Sent once the connection is open. */
  #unsent: string | undefined
  /** Called when it is closed, or the receiver sends something without a request. */
  onClose: () => void = () => undefined

  constructor({ url, address, ca }: ReceiverAddress) {
    const isTls = url.protocol === 'https:'
    const to = { host: address, port: Number(url.port) || (isTls ? 443 : 80), noDelay: true }
    // A literal address is no server name: the certificate is checked against the address.
    const servername = url.hostname.replace(/^\[|\]$/g, '') === address ? undefined : url.hostname
    this.#socket = isTls
      ? tls.connect({
          ...to,
          rejectUnauthorized: true,
          ...(servername && { servername }),
          ...(ca && { ca: [...ca] }),
        })
      : connect(to)
    this.#socket.on(isTls ? 'secureConnect' : 'connect', () => this.#open())
    this.#socket.on('data', (piece: Buffer) => this.#receive(piece))
    this.#socket.on('end', () => this.#end())
    this.#socket.on('error', error => this.close(describeFailure(error)))
    this.#socket.on('close', () => this.close())
  }

  /** Whether another request can be sent: the last answer was read to its end. */
  get isFree(): boolean {
    return this.#failure === undefined && this.#exchange === undefined && this.#socket.writableLength === 0
  }

  /** Sends a request. The promise is never rejected. */
  exchange(message: string, readsAnswer: boolean): Promise<Exchanged> {
    if (this.#failure !== undefined) return Promise.resolve({ failure: this.#failure, wasClosed: true })
    const { promise, resolve } = Promise.withResolvers<Exchanged>()
    this.#exchange = { reader: new AnswerReader(), readsAnswer, rest: undefined, resolve }
    if (this.#isOpen) this.#socket.write(message)
    else this.#unsent = message
    return promise
  }

  /** Closes the connection; a request on it fails, unless its status is known and enough. */
  close(failure: string = CLOSED): void {
    if (this.#failure !== undefined) return
    this.#failure = failure
    this.#socket.destroy()
    this.onClose()
    const { reader, readsAnswer } = this.#exchange ?? {}
    if (reader === undefined) return
    if (reader.status !== undefined && !readsAnswer) this.#settle({ status: reader.status, body: '' })
    else this.#settle({ failure: reader.failure ?? failure, ...(!reader.hasBegun && { wasClosed: true }) })
  }

  #open(): void {
    this.#isOpen = true
    if (this.#unsent !== undefined) this.#socket.write(this.#unsent)
    this.#unsent = undefined
  }

  #receive(piece: Buffer): void {
    const exchange = this.#exchange
    if (exchange === undefined) this.close()
    else {
      exchange.reader.push(piece)
      this.#follow(exchange)
    }
  }

  #end(): void {
    const exchange = this.#exchange
    if (exchange !== undefined) {
      exchange.reader.end()
      this.#follow(exchange)
    }
    this.close()
  }

  /** Settles the request if its answer can be read no further. */
  #follow(exchange: Exchange): void {
    const { reader, readsAnswer } = exchange
    const { status } = reader
    if (reader.failure !== undefined) this.close(reader.failure)
    else if (status === undefined) return
    else if (reader.isComplete) {
      this.#settle({ status, body: readsAnswer ? reader.body : '' })
      if (!reader.allowsReuse) this.close()
    } else if (!readsAnswer) exchange.rest ??= setTimeout(() => this.close(), REST_MILLISECONDS)
  }

  #settle(answer: Exchanged): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    clearTimeout(exchange?.rest)
    exchange?.resolve(answer)
  }
}

/** The code if there is one: messages may contain addresses. */
export function describeFailure(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message ?? error).slice(0, MAX_FAILURE_LENGTH)
}
