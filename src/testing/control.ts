/**
 * The control API for the harness, on a plain socket. A test may have replaced `fetch` or the module node:http, with a mock
 * server or with a simulated browser, and may have stopped the timers: none of that may affect the controls of the demo.
 */
import { Buffer } from 'node:buffer'
import { connect } from 'node:net'

const TIMEOUT_MILLISECONDS = 60_000
/** The store of the demo may be busy for a moment, such as during a reset. */
const MAX_ATTEMPTS = 20

export interface ControlAddress {
  /** Such as `http://localhost:8080/control`. */
  readonly control_url: string
  readonly operator_token: string
}

/** Sends a request of the control API. */
export type Control = <Answer>(method: string, path: string, body?: object) => Promise<Answer>

export function createControl({ control_url, operator_token }: ControlAddress): Control {
  const server = findServer(control_url)
  return async (method, path, body) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const head = [
      `${method} /control${path} HTTP/1.1`,
      `Host: ${server.authority}`,
      `Authorization: Bearer ${operator_token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ].join('\r\n')
    for (let attempt = 1; ; attempt++) {
      const { status, content } = readResponse(await exchange(server, `${head}\r\n\r\n${text}`))
      if (status < 300) return (content === '' ? undefined : JSON.parse(content)) as never
      if (status !== 503 || attempt === MAX_ATTEMPTS)
        throw new Error(parseMessage(content) ?? `${method} ${path} was answered with ${status}`)
    }
  }
}

interface Server {
  readonly authority: string
  readonly host: string
  readonly port: number
}

/** The demo listens on both addresses of localhost; in a URL, IPv6 has brackets. */
function findServer(url: string): Server {
  const [, authority = '', host = '', port = '80'] =
    /^http:\/\/((\[[^\]]+\]|[^:/]+)(?::([0-9]+))?)\/control$/.exec(url) ?? []
  if (host === '') throw new Error(`"${url}" is not the address of the control API of a demo`)
  const name = host.replace(/^\[|\]$/g, '')
  return { authority, host: name === 'localhost' ? '127.0.0.1' : name, port: Number(port) }
}

/** Sends a request and reads to the end of the connection. */
function exchange({ authority, host, port }: Server, request: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) =>
      reject(new Error(`cannot reach Strand at http://${authority}: ${reason}`))
    const socket = connect(port, host)
    const pieces: Buffer[] = []
    socket.setTimeout(TIMEOUT_MILLISECONDS, () => socket.destroy(new Error('no answer')))
    socket.on('connect', () => socket.write(request))
    socket.on('data', (piece: Buffer) => pieces.push(piece))
    socket.on('error', error => fail(error.message))
    socket.on('close', () => (pieces.length > 0 ? resolve(Buffer.concat(pieces)) : fail('no answer')))
  })
}

function readResponse(bytes: Buffer): { status: number; content: string } {
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.subarray(0, end).toString('latin1')
  const status = Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(head)?.[1] ?? 0)
  const body = bytes.subarray(end + 4)
  const isChunked = /^transfer-encoding: *chunked/im.test(head)
  return { status, content: (isChunked ? joinChunks(body) : body).toString() }
}

function joinChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let start = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', start)
    const size = lineEnd < 0 ? 0 : Number.parseInt(body.toString('latin1', start, lineEnd), 16)
    if (!(size > 0)) return Buffer.concat(pieces)
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size))
    start = lineEnd + 2 + size + 2
  }
}

function parseMessage(content: string): string | undefined {
  try {
    return (JSON.parse(content) as { message?: string }).message
  } catch {
    return undefined
  }
}
