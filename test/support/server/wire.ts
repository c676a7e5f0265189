import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  readonly text: string
}

/** One connection, byte by byte. */
export class Wire {
  readonly #socket: Socket
  #chunks: Uint8Array[] = []
  #received = 0
  /** Of the answer that is being received; chunks of large ones are joined once. */
  #expected = 0
  #closed = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Uint8Array) => {
      this.#chunks.push(chunk)
      this.#received += chunk.length
      if (this.#received >= this.#expected) this.#wake()
    })
    const onEnd = () => {
      this.#closed = true
      this.#wake()
    }
    socket.on('close', onEnd)
    socket.on('error', onEnd)
  }

  static open(url: string): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      const wire = new Wire(socket)
      socket.once('connect', () => resolve(wire))
      socket.once('error', reject)
    })
  }

  /** Text is sent as Latin-1, so that `\xff` is one byte. */
  send(bytes: string | Uint8Array): Promise<void> {
    return new Promise(resolve => {
      this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve())
    })
  }

  /** The next answer; undefined if the server hung up without one. */
  async answer(options: { head?: boolean } = {}): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.#take(options.head ?? false)
      if (answer !== undefined || this.#closed) return answer
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(head: boolean): RawAnswer | undefined {
    if (this.#received < this.#expected) return undefined
    const received = Buffer.concat(this.#chunks)
    this.#chunks = [received]
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
    const headers = new Map(
      lines.map(line => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    )
    const status = Number(statusLine.split(' ')[1])
    const length = head || status < 200 ? 0 : Number(headers.get('content-length') ?? 0)
    this.#expected = end + 4 + length
    if (received.length < this.#expected) return undefined
    const bytes = received.subarray(end + 4, this.#expected)
    this.#chunks = [received.subarray(this.#expected)]
    this.#received -= this.#expected
    this.#expected = 0
    return {
      status,
      headers,
      bytes,
      get text() {
        return bytes.toString()
      },
    }
  }
}

/** Sends one request on a separate connection. */
export async function raw(url: string, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  const wire = await Wire.open(url)
  try {
    await wire.send(bytes)
    return await wire.answer({ head: bytes.toString().startsWith('HEAD ') })
  } finally {
    wire.close()
  }
}
