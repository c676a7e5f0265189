/** Listeners: sockets that accept requests, and how they stop. */
import http from 'node:http'
import type { EventSockets, SocketRequest } from '../events/sockets/event-sockets.ts'
import type { Peer } from './request-context.ts'
import { UPGRADED } from './responses/socket-response.ts'

/** Three lists of 100 values make a request line of about 10 KB; the default limit of the runtime is barely above it. */
Object.assign(http, { maxHeaderSize: 32 * 1024 })

/** Idle timeout of a connection, and of one that is held open for long work: the maximum of the runtime. */
const IDLE_SECONDS = 12
const HELD_OPEN_SECONDS = 255
/** How long `stop` waits for requests in flight. */
const MAX_STOP_MILLISECONDS = 15_000

/** An open listener. */
export interface Listening {
  readonly port: number
  /** From now on closes each connection after its next response, so that clients reconnect, possibly to another node. */
  drain(): void
  stop(): Promise<void>
}

/** Accepts connections at once, even if the application is still starting. `localhost` means both loopback addresses. */
export function listen(
  host: string,
  port: number,
  handle: (request: Request, peer: Peer) => Response | Promise<Response>,
  options: { sharesPort: boolean; sockets(): EventSockets | undefined },
): Listening {
  const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  const servers: Bun.Server<SocketRequest>[] = []
  let draining = false
  for (const hostname of hosts) {
    const loopback = LOOPBACK.test(hostname) ? hostname : undefined
    try {
      servers.push(
        Bun.serve<SocketRequest>({
          hostname,
          port: servers[0]?.port ?? port,
          development: false,
          // Explicit, because by default a second server could silently share the port.
          reusePort: options.sharesPort,
          idleTimeout: IDLE_SECONDS,
          // Routes have limits of their own (`kit/read-body.ts`); the runtime would answer without a body.
          maxRequestBodySize: Number.MAX_SAFE_INTEGER,
          fetch: (request, server) => {
            const answer = handle(request, new Connection(request, server, loopback))
            if (answer === UPGRADED) return undefined
            return draining ? Promise.resolve(answer).then(withConnectionClose) : answer
          },
          websocket: {
            ...SOCKET_LIMITS,
            open: socket => void options.sockets()?.open(socket, socket.data),
            message: socket => options.sockets()?.receive(socket),
            pong: (socket, payload) => options.sockets()?.confirm(socket, payload.toString()),
            close: (socket, code) => void options.sockets()?.closed(socket, code, socket.data),
          },
        }),
      )
    } catch (error) {
      // A machine without IPv6 serves the other loopback address only.
      if (servers.length === 0 || (error as { code?: string }).code === 'EADDRINUSE') {
        for (const server of servers) server.stop(true)
        throw error
      }
    }
  }
  return {
    port: servers[0]?.port ?? port,
    drain: () => {
      draining = true
    },
    stop: async () => {
      for (const server of servers) server.stop()
      // Requests in flight may finish, up to a deadline; then idle connections are closed.
      const deadline = performance.now() + MAX_STOP_MILLISECONDS
      while (servers.some(server => server.pendingRequests > 0) && performance.now() < deadline)
        await Bun.sleep(5)
      for (const server of servers) await server.stop(true)
    },
  }
}

/** Clients send nothing. One that reads so slowly that this much waits for it is disconnected. */
const SOCKET_LIMITS = {
  maxPayloadLength: 4096,
  backpressureLimit: 1024 * 1024,
  closeOnBackpressureLimit: true,
  // Sessions send pings, and notice by themselves that a client is gone.
  idleTimeout: 0,
  sendPings: false,
  perMessageDeflate: false,
} as const

/**
 * All peers of a loopback listener are on this machine. Which of its addresses they use makes no difference, and getting it
 * from the runtime costs about as much as the rest of a rate limit check.
 */
const LOOPBACK = /^127(?:\.[0-9]+){3}$|^::1$/

/** The connection of a request. A class: functions for each request would be garbage in nearly all of them. */
class Connection implements Peer {
  readonly #request: Request
  readonly #server: Bun.Server<SocketRequest>
  readonly #loopback: string | undefined

  constructor(request: Request, server: Bun.Server<SocketRequest>, loopback: string | undefined) {
    this.#request = request
    this.#server = server
    this.#loopback = loopback
  }

  address(): string {
    return this.#loopback ?? this.#server.requestIP(this.#request)?.address ?? ''
  }

  holdOpen(seconds = HELD_OPEN_SECONDS): void {
    this.#server.timeout(this.#request, seconds)
  }

  /** The runtime knows the address as long as it has something to send. */
  isAnswering(): boolean {
    return this.#server.requestIP(this.#request) !== null
  }

  upgrade(data: SocketRequest): boolean {
    return this.#server.upgrade(this.#request, { data })
  }
}

function withConnectionClose(response: Response): Response {
  response.headers.set('Connection', 'close')
  return response
}
