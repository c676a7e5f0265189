/** Accepts publishers over RTMP. What they may publish, and what becomes of it, is up to `Ingest`. */
import { randomBytes } from 'node:crypto'
import type { Socket, TCPSocketListener } from 'bun'
import type { Log } from '../kit/log.ts'
import { networkOf } from '../kit/network.ts'
import { ProtocolError } from './rtmp/protocol-error.ts'
import { type MediaMessage, Publisher, type PublishRequest } from './rtmp/publisher.ts'

/** A publisher that may publish. */
export interface PublishGrant {
  media(message: MediaMessage): void
  /** The publisher stopped or disconnected. Called once. */
  end(): void
}

export interface Ingest {
  /** Undefined: the key is not valid, or the channel is taken. `close` disconnects the publisher. */
  authorize(
    request: PublishRequest & { readonly address: string },
    close: () => void,
  ): Promise<PublishGrant | undefined>
}

/** Time from the connection to an accepted publish. */
const PUBLISH_SECONDS = 10
/** A publisher that sends nothing for so long is gone. */
const SILENT_SECONDS = 30
const MAX_CONNECTIONS = 2000
/** Maximum connections of one network that do not publish. */
const MAX_UNAUTHORIZED = 50

export interface RtmpOptions {
  readonly hostname: string
  readonly port: number
  readonly ingest: Ingest
  readonly log: Log
}

export class RtmpServer {
  readonly #ingest: Ingest
  readonly #log: Log
  readonly #connections = new Set<Connection>()
  readonly #unauthorized = new Map<string, number>()
  readonly #listeners: TCPSocketListener<Connection>[] = []
  readonly port: number

  constructor({ hostname, port, ingest, log }: RtmpOptions) {
    this.#ingest = ingest
    this.#log = log
    for (const host of hostname === 'localhost' ? ['127.0.0.1', '::1'] : [hostname]) {
      try {
        this.#listeners.push(this.#listen(host, this.#listeners[0]?.port ?? port))
      } catch (error) {
        // A machine without IPv6 serves the other loopback address only.
        if (this.#listeners.length === 0) throw error
      }
    }
    this.port = this.#listeners[0]?.port ?? port
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  stop(): void {
    for (const listener of this.#listeners) listener.stop(true)
    for (const connection of this.#connections) connection.close()
  }

  #listen(hostname: string, port: number): TCPSocketListener<Connection> {
    return Bun.listen<Connection>({
      hostname,
      port,
      socket: {
        open: socket => this.#open(socket),
        data: (socket, bytes) => socket.data.receive(bytes),
        timeout: socket => socket.data.close(),
        close: socket => this.#closed(socket.data),
        error: socket => socket.data.close(),
      },
    })
  }

  #open(socket: Socket<Connection>): void {
    const network = networkOf(socket.remoteAddress)
    const connection = new Connection(socket, this.#ingest, this.#log, network)
    connection.onGrant = () => this.#count(network, -1)
    socket.data = connection
    this.#connections.add(connection)
    this.#count(network, 1)
    const isTooMany =
      this.#connections.size > MAX_CONNECTIONS || (this.#unauthorized.get(network) ?? 0) > MAX_UNAUTHORIZED
    if (isTooMany) connection.close()
  }

  #closed(connection: Connection): void {
    if (!this.#connections.delete(connection)) return
    if (!connection.isGranted) this.#count(connection.network, -1)
    connection.closed()
  }

  #count(network: string, by: number): void {
    const count = (this.#unauthorized.get(network) ?? 0) + by
    if (count === 0) this.#unauthorized.delete(network)
    else this.#unauthorized.set(network, count)
  }
}

class Connection {
  readonly network: string
  readonly #socket: Socket<Connection>
  readonly #ingest: Ingest
  readonly #log: Log
  readonly #publisher: Publisher
  readonly #deadline: ReturnType<typeof setTimeout>
  #grant: PublishGrant | undefined
  #isClosed = false
  isGranted = false
  onGrant: () => void = () => undefined

  constructor(socket: Socket<Connection>, ingest: Ingest, log: Log, network: string) {
    this.#socket = socket
    this.#ingest = ingest
    this.#log = log
    this.network = network
    this.#deadline = setTimeout(() => this.close(), PUBLISH_SECONDS * 1000)
    socket.timeout(SILENT_SECONDS)
    this.#publisher = new Publisher(
      {
        send: bytes => this.#send(bytes),
        publish: request => void this.#authorize(request),
        media: message => this.#grant?.media(message),
        stop: () => this.#endGrant(),
      },
      randomBytes(1528),
    )
  }

  receive(bytes: Uint8Array): void {
    if (this.#isClosed) return
    try {
      this.#publisher.receive(bytes)
    } catch (error) {
      if (!(error instanceof ProtocolError))
        this.#log.error({ error: String(error) }, 'RTMP connection failed')
      else this.#log.debug({ reason: error.message }, 'RTMP connection closed')
      this.close()
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.end()
  }

  /** The socket is closed, by either side. */
  closed(): void {
    this.#isClosed = true
    clearTimeout(this.#deadline)
    this.#endGrant()
  }

  /** Replies are small: a peer that does not read them is closed. */
  #send(bytes: Uint8Array): void {
    if (!this.#isClosed && this.#socket.write(bytes) < bytes.length) this.close()
  }

  async #authorize(request: PublishRequest): Promise<void> {
    const address = this.#socket.remoteAddress
    const grant = await this.#ingest
      .authorize({ ...request, address }, () => this.close())
      .catch(error => {
        this.#log.error({ error: String(error) }, 'checking a stream key failed')
        return undefined
      })
    if (this.#isClosed) return grant?.end()
    if (grant === undefined) {
      this.#publisher.refuse()
      this.close()
      return
    }
    clearTimeout(this.#deadline)
    this.#grant = grant
    if (!this.isGranted) this.onGrant()
    this.isGranted = true
    this.#publisher.accept()
  }

  #endGrant(): void {
    this.#grant?.end()
    this.#grant = undefined
  }
}
