/**
 * The proxy of a demo, for programs whose URLs cannot be changed: `HTTPS_PROXY` leads them here, and a tunnel to one of the
 * hosts of the real API ends at the demo instead. It listens on loopback and reaches nothing else: every other tunnel is
 * refused, so that it is no open proxy and no call of a test leaves the machine unnoticed.
 *
 * Programs start TLS in the tunnel, so the demo needs a certificate that they trust. It signs itself and is valid for these
 * hosts only; its private key is never written, and it is replaced at every start.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import tls from 'node:tls'
import { selfSignedCertificate } from '../kit/crypto/certificate.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { KNOWN_HOSTS } from './known-hosts.ts'

const HOST = '127.0.0.1'
const MAX_TUNNELS = 1000
const MAX_HEAD_BYTES = 8 * 1024
const HEAD_MILLISECONDS = 10_000
const CERTIFICATE_DAYS = 90

export interface DemoProxy {
  /** The value for `HTTPS_PROXY`. */
  readonly url: string
  /** The certificate to trust, in PEM. */
  readonly certificate: string
  stop(): Promise<void>
}

/** Starts the proxy of the demo at this address. */
export async function startProxy(port: number, demo: { host: string; port: number }): Promise<DemoProxy> {
  const { cert, key } = selfSignedCertificate('Strand demo', KNOWN_HOSTS, CERTIFICATE_DAYS)
  const sockets = new Set<Socket>()
  const terminator = tls.createServer({ cert, key, ALPNProtocols: ['http/1.1'] }, socket =>
    join(track(socket, sockets), connect(demo)),
  )
  const terminatorPort = await listen(terminator, 0)
  const proxy = createServer(socket => {
    acceptTunnel(track(socket, sockets), () => connect(terminatorPort, HOST))
  })
  proxy.maxConnections = MAX_TUNNELS
  try {
    const listening = await listen(proxy, port)
    return { url: `http://${HOST}:${listening}`, certificate: cert, stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop(): Promise<void> {
    proxy.close()
    terminator.close()
    for (const socket of sockets) socket.destroy()
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: { code?: string; message: string }) => {
      const reason = error.code === 'EADDRINUSE' ? 'it is in use' : error.message
      reject(new OperatorError(`the proxy cannot listen on port ${port}: ${reason}`))
    })
    server.listen(port, HOST, () => resolve((server.address() as { port: number }).port))
  })
}

function track(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  return socket
}

/** Reads the head of a request, `CONNECT api.twitch.tv:443 HTTP/1.1`, and opens the tunnel or refuses it. */
function acceptTunnel(client: Socket, open: () => Socket): void {
  let head = Buffer.alloc(0)
  client.on('error', () => client.destroy())
  client.setTimeout(HEAD_MILLISECONDS, () => client.destroy())
  const read = (data: Buffer) => {
    head = Buffer.concat([head, data])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0 && head.length <= MAX_HEAD_BYTES) return
    client.off('data', read)
    client.setTimeout(0)
    const [line = ''] = head.toString('latin1').split('\r\n')
    const [, host = '', port = ''] = /^CONNECT ([^:\s]+):([0-9]+) HTTP\/1\.[01]$/i.exec(line) ?? []
    if (end < 0 || port !== '443' || !KNOWN_HOSTS.includes(host.toLowerCase())) return refuse(client)
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const server = open()
    server.write(head.subarray(end + 4))
    join(client, server)
  }
  client.on('data', read)
}

function refuse(client: Socket): void {
  const text = `The proxy of a Strand demo only opens tunnels (CONNECT) to port 443 of ${KNOWN_HOSTS.join(', ')}.\n`
  client.end(
    `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
  )
}

/** Passes everything on in both directions, until one end closes. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}
