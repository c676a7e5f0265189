/** A raw HTTP connection: `fetch` would normalize malformed requests. */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Why there is no response. */
export type Silence = 'hung up' | 'no answer'

const MAX_WAIT_MILLISECONDS = 20_000
const NOTHING = Buffer.alloc(0)

/** Sends one request at a time; reconnects when needed. */
export class RawConnection {
  readonly #host: string
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = NOTHING
  #wake: () => void = () => undefined

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#host = hostname
    this.#port = Number(port)
  }

  async ask(request: Uint8Array): Promise<RawAnswer | Silence> {
    try {
      this.#socket ??= await this.#open()
    } catch {
      return 'hung up'
    }
    const { promise, resolve } = Promise.withResolvers<RawAnswer | Silence>()
    const waitLimit = setTimeout(() => resolve('no answer'), MAX_WAIT_MILLISECONDS)
    this.#received = NOTHING
    this.#wake = () => {
      const answer = readAnswer(this.#received)
      if (answer !== undefined) resolve(answer)
      else if (this.#socket === undefined) resolve('hung up')
    }
    this.#socket.write(request)
    const answer = await promise
    clearTimeout(waitLimit)
    this.#wake = () => undefined
    if (typeof answer === 'string' || answer.headers.get('connection') === 'close') this.close()
    return answer
  }

  /** Forces a new connection, for example after a malformed request. */
  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, this.#host)
      socket.setNoDelay(true)
      socket.on('data', (chunk: Buffer) => {
        if (socket !== this.#socket) return
        this.#received = Buffer.concat([this.#received, chunk])
        this.#wake()
      })
      socket.once('connect', () => resolve(socket))
      socket.on('error', reject)
      socket.once('close', () => {
        if (socket !== this.#socket) return
        this.#socket = undefined
        this.#wake()
      })
    })
  }
}

/** Parses a response; undefined while it is incomplete. */
export function readAnswer(received: Buffer): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const headers = new Map(
    lines.map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const status = Number(statusLine.split(' ')[1])
  const rest = received.subarray(end + 4)
  if (headers.get('transfer-encoding') === 'chunked') {
    const body = joinChunks(rest)
    return body && { status, headers, body }
  }
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? undefined : { status, headers, body: rest.subarray(0, length) }
}

function joinChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let start = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', start)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', start, lineEnd), 16)
    const chunkEnd = lineEnd + 2 + size
    if (bytes.length < chunkEnd + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(lineEnd + 2, chunkEnd))
    start = chunkEnd + 2
  }
}
