/** Accepts publishers over RTMP. What they may publish, and what becomes of it, is up to `Ingest`. */
import { randomBytes } from 'node:crypto'
import type { Socket, TCPSocketListener } from 'bun'
import { toNetwork } from '../kit/network.ts'
import { type BucketSize, refill, type TokenBucket } from '../kit/queues/token-buckets.ts'
import type { Log } from '../kit/telemetry/log.ts'
import { ProtocolError } from './rtmp/protocol-error.ts'
import { type MediaMessage, Publisher, type PublishRequest } from './rtmp/publisher.ts'

/** A publisher that may publish. */
export interface PublishGrant {
  media(message: MediaMessage): void
  /** The publisher stopped or disconnected. Called once. */
  end(): void
}

export interface Ingest {
  /**
   * Undefined: the key is not valid, or the channel is taken. A text: another reason, which the publisher gets. `close`
   * disconnects the publisher. The address is not known behind a proxy.
   */
  authorize(
    request: PublishRequest & { readonly address: string | undefined },
    close: (reason?: string) => void,
  ): Promise<PublishGrant | string | undefined>
}

/** Time from the connection, or from the end of a broadcast, to an accepted publish. */
const PUBLISH_SECONDS = 10
/** A publisher that sends nothing for so long is gone. */
const SILENT_SECONDS = 30
const MAX_PUBLISHERS = 2000
/** Maximum connections that do not publish, of one network and of all: then the oldest has to make room. */
const MAX_WAITING_PER_NETWORK = 50
const MAX_WAITING = 1000

/**
 * What is read of one publisher: 100 Mbit/s, and more for a moment, so that an encoder can catch up. Beyond that its
 * connection is not read, which slows the publisher and costs no memory.
 */
const INTAKE: BucketSize = { capacity: 8 * 1024 * 1024, fullAfterSeconds: 0.67 }
/** Added to the bytes of each message, because every one takes time. */
const MESSAGE_COST = 200
/** What is read in one turn of the thread: the runtime hands over half a megabyte, in which there may be 40,000 messages. */
const TURN_BYTES = 32 * 1024

export interface RtmpOptions {
  readonly hostname: string
  readonly port: number
  readonly ingest: Ingest
  readonly log: Log
  /** Whether many publishers connect through this address, so that it is the address of none of them. */
  readonly isProxy?: (address: string) => boolean
  readonly publishSeconds?: number
  readonly silentSeconds?: number
}

export class RtmpServer {
  readonly #options: RtmpOptions
  readonly #publishing = new Set<Connection>()
  /** The connections that do not publish, the oldest first, and how many there are by network. */
  readonly #waiting = new Set<Connection>()
  readonly #waitingOf = new Map<string, number>()
  readonly #listeners: TCPSocketListener<Connection>[] = []
  readonly port: number

  constructor(options: RtmpOptions) {
    this.#options = options
    const { hostname, port } = options
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

  stop(): void {
    for (const listener of this.#listeners) listener.stop(true)
    for (const connection of [...this.#publishing, ...this.#waiting]) connection.close()
  }

  #listen(hostname: string, port: number): TCPSocketListener<Connection> {
    return Bun.listen<Connection>({
      hostname,
      port,
      socket: {
        open: socket => this.#open(socket),
        data: (socket, bytes) => socket.data.receive(bytes),
        timeout: socket => socket.data.close(),
        close: socket => socket.data.hungUp(),
        error: socket => socket.data.close(),
      },
    })
  }

  #open(socket: Socket<Connection>): void {
    const { isProxy = () => false } = this.#options
    const address = isProxy(socket.remoteAddress) ? undefined : socket.remoteAddress
    const network = address === undefined ? 'proxy' : toNetwork(address)
    const connection = new Connection(socket, address, this.#options, () => this.#sort(connection, network))
    socket.data = connection
    this.#sort(connection, network)
    const isTooMany =
      this.#publishing.size >= MAX_PUBLISHERS ||
      (address !== undefined && (this.#waitingOf.get(network) ?? 0) > MAX_WAITING_PER_NETWORK)
    if (isTooMany) connection.close()
    else if (this.#waiting.size > MAX_WAITING) this.#waiting.values().next().value?.close()
  }

  /** Puts a connection where it belongs, after its state has changed. */
  #sort(connection: Connection, network: string): void {
    const { state } = connection
    if (state !== 'waiting' && this.#waiting.delete(connection)) this.#count(network, -1)
    if (state !== 'publishing') this.#publishing.delete(connection)
    if (state === 'publishing') this.#publishing.add(connection)
    if (state === 'waiting') {
      this.#waiting.add(connection)
      this.#count(network, 1)
    }
  }

  #count(network: string, by: number): void {
    const count = (this.#waitingOf.get(network) ?? 0) + by
    if (count === 0) this.#waitingOf.delete(network)
    else this.#waitingOf.set(network, count)
  }
}

class Connection {
  readonly #socket: Socket<Connection>
  readonly #address: string | undefined
  readonly #options: RtmpOptions
  readonly #onChange: () => void
  /** Made with the first byte: a connection that sends nothing costs little. */
  #publisher: Publisher | undefined
  #deadline: ReturnType<typeof setTimeout>
  #grant: PublishGrant | undefined
  readonly #intake: TokenBucket = { points: INTAKE.capacity, at: performance.now() }
  #resumes: ReturnType<typeof setTimeout> | undefined
  /** What has arrived and is read in the next turns. */
  #unread: Buffer | undefined
  #turns: ReturnType<typeof setTimeout> | undefined
  #hasHungUp = false
  state: 'waiting' | 'publishing' | 'closed' = 'waiting'

  /** `onChange` is called when the state has changed. */
  constructor(
    socket: Socket<Connection>,
    address: string | undefined,
    options: RtmpOptions,
    onChange: () => void,
  ) {
    this.#socket = socket
    this.#address = address
    this.#options = options
    this.#onChange = onChange
    this.#deadline = this.#startDeadline()
    this.#expectMore()
  }

  receive(bytes: Uint8Array): void {
    if (this.state === 'closed') return
    this.#expectMore()
    if (this.#unread === undefined && bytes.length <= TURN_BYTES) {
      this.#read(bytes)
      return
    }
    // A copy: the runtime uses the buffer again.
    const isWaiting = this.#unread !== undefined
    this.#unread = Buffer.concat([this.#unread ?? Buffer.alloc(0), bytes])
    if (isWaiting) return
    this.#socket.pause()
    this.#readTurn()
  }

  /** Reads some of what has arrived, and the rest in later turns of the thread. */
  #readTurn(): void {
    const bytes = this.#unread
    if (bytes === undefined || this.state === 'closed') return
    const rest = bytes.subarray(TURN_BYTES)
    this.#unread = rest.length > 0 ? rest : undefined
    this.#read(bytes.subarray(0, TURN_BYTES))
    if (this.#unread !== undefined) this.#turns = setTimeout(() => this.#readTurn(), 0)
    else if (this.#hasHungUp) this.closed()
    else if (this.#resumes === undefined) this.#socket.resume()
  }

  #read(bytes: Uint8Array): void {
    const { log } = this.#options
    try {
      this.#publisher ??= this.#createPublisher()
      const messages = this.#publisher.receive(bytes)
      this.#take(bytes.length + messages * MESSAGE_COST)
    } catch (error) {
      if (!(error instanceof ProtocolError)) log.error({ error: String(error) }, 'RTMP connection failed')
      else log.debug({ reason: error.message }, 'RTMP connection closed')
      this.close()
    }
  }

  close(): void {
    if (this.state === 'closed') return
    this.#socket.end()
    this.closed()
  }

  /** The socket is closed, by either side. What has arrived before is still read. */
  hungUp(): void {
    this.#hasHungUp = true
    if (this.#unread === undefined) this.closed()
  }

  closed(): void {
    if (this.state === 'closed') return
    clearTimeout(this.#deadline)
    clearTimeout(this.#resumes)
    clearTimeout(this.#turns)
    this.#unread = undefined
    this.#become('closed')
    this.#endGrant()
  }

  #createPublisher(): Publisher {
    return new Publisher(
      {
        send: bytes => this.#send(bytes),
        publish: request => void this.#authorize(request),
        media: message => this.#grant?.media(message),
        stop: () => this.#stop(),
      },
      randomBytes(1528),
    )
  }

  /** The runtime counts from the last call, not from the last bytes. */
  #expectMore(): void {
    this.#socket.timeout(this.#options.silentSeconds ?? SILENT_SECONDS)
  }

  #startDeadline(): ReturnType<typeof setTimeout> {
    const { publishSeconds = PUBLISH_SECONDS } = this.#options
    return setTimeout(() => this.close(), publishSeconds * 1000)
  }

  #become(state: Connection['state']): void {
    this.state = state
    this.#onChange()
  }

  /** Counts what was read. A connection that is over its limit is read again when it is not. */
  #take(cost: number): void {
    const intake = this.#intake
    refill(intake, performance.now(), INTAKE)
    intake.points -= cost
    if (intake.points >= 0 || this.state === 'closed' || this.#hasHungUp) return
    this.#socket.pause()
    const seconds = (-intake.points * INTAKE.fullAfterSeconds) / INTAKE.capacity
    clearTimeout(this.#resumes)
    this.#resumes = setTimeout(() => this.#resume(), Math.max(10, seconds * 1000))
  }

  #resume(): void {
    this.#resumes = undefined
    if (this.#unread === undefined) this.#socket.resume()
  }

  /** Replies are small: a peer that does not read them is closed. */
  #send(bytes: Uint8Array): void {
    if (this.state === 'closed' || this.#hasHungUp) return
    if (this.#socket.write(bytes) < bytes.length) this.close()
  }

  async #authorize(request: PublishRequest): Promise<void> {
    const { ingest, log } = this.#options
    const grant = await ingest
      .authorize({ ...request, address: this.#address }, reason => this.#disconnect(reason))
      .catch(error => {
        log.error({ error: String(error) }, 'checking a stream key failed')
        return undefined
      })
    if (grant === undefined || typeof grant === 'string') {
      this.#publisher?.refuse(grant)
      this.close()
      return
    }
    if (this.state === 'closed') {
      grant.end()
      return
    }
    clearTimeout(this.#deadline)
    this.#grant = grant
    this.#become('publishing')
    this.#publisher?.accept()
  }

  #disconnect(reason: string | undefined): void {
    if (reason !== undefined) this.#publisher?.refuse(reason)
    this.close()
  }

  /** It may publish again, as soon as one that has just connected. */
  #stop(): void {
    this.#endGrant()
    this.#deadline = this.#startDeadline()
    this.#become('waiting')
  }

  #endGrant(): void {
    this.#grant?.end()
    this.#grant = undefined
  }
}
