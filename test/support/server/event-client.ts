/** A client of the WebSocket for events, over a raw socket: it answers pings only on request, and can send anything. */
import { connect, type Socket } from 'node:net'

// biome-ignore lint/suspicious/noExplicitAny: messages are whatever the server sent; tests look into them freely
export type SocketMessage = any

const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

export class EventClient {
  readonly messages: SocketMessage[] = []
  pings = 0
  closed: { code: number; reason: string } | undefined
  /** Whether the connection is over. */
  ended = false
  status = 0
  readonly #socket: Socket
  readonly #answersPings: boolean
  #bytes = Buffer.alloc(0)
  #waiting: (() => void)[] = []

  private constructor(socket: Socket, answersPings: boolean) {
    this.#socket = socket
    this.#answersPings = answersPings
    socket.on('data', (data: Buffer) => this.#receive(data))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.ended = true
      this.#notify()
    })
  }

  /** Connects to a URL such as that of a server or of a `session_reconnect` message. */
  static async connect(
    url: string,
    options: { answersPings?: boolean; from?: string; forwardedFor?: string } = {},
  ): Promise<EventClient> {
    const { hostname, port, pathname, search } = new URL(url.replace(/^ws/, 'http'))
    const path = pathname === '/' ? '/ws' : pathname
    const { from, forwardedFor } = options
    const socket = connect({ host: hostname, port: Number(port), ...(from && { localAddress: from }) })
    const client = new EventClient(socket, options.answersPings ?? true)
    socket.write(
      `GET ${path}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        (forwardedFor === undefined ? '' : `X-Forwarded-For: ${forwardedFor}\r\n`) +
        `Sec-WebSocket-Key: ${Buffer.from('0123456789abcdef').toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    await client.until(() => client.status !== 0 || client.ended)
    return client
  }

  /** Waits for a condition; the time limit is that of the test. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** Waits for a message of this type, the first by default. */
  async message(type: string, which = 0): Promise<SocketMessage> {
    const found = () => this.messages.filter(each => each.metadata.message_type === type)[which]
    await this.until(() => found() !== undefined || this.ended)
    const message = found()
    if (message === undefined) throw new Error(`closed before ${type}: ${JSON.stringify(this.closed)}`)
    return message
  }

  async sessionId(): Promise<string> {
    return (await this.message('session_welcome')).payload.session.id
  }

  /** Sends a frame with this opcode and payload, masked as clients must. */
  send(opcode: number, payload: Buffer | string): void {
    const data = Buffer.from(payload)
    const mask = Buffer.from([1, 2, 3, 4])
    const masked = Buffer.from(data.map((byte, index) => byte ^ (mask[index % 4] as number)))
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | data.length]), mask, masked]))
  }

  sendText(text: string): void {
    this.send(TEXT, text)
  }

  /** Ends the connection with a close message. */
  close(): void {
    this.send(CLOSE, Buffer.from([3, 232]))
    this.#socket.end()
  }

  /** Ends the connection without a word. */
  destroy(): void {
    this.#socket.destroy()
  }

  #receive(data: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, data])
    if (this.status === 0) this.#readHead()
    if (this.status === 101) while (this.#readFrame());
    this.#notify()
  }

  #readHead(): void {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0) return
    this.status = Number(this.#bytes.toString('latin1', 9, 12))
    this.#bytes = this.#bytes.subarray(end + 4)
  }

  #readFrame(): boolean {
    const bytes = this.#bytes
    if (bytes.length < 2) return false
    const opcode = (bytes[0] as number) & 15
    const short = (bytes[1] as number) & 127
    const head = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < head) return false
    const length =
      short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
    if (bytes.length < head + length) return false
    this.#take(opcode, bytes.subarray(head, head + length))
    this.#bytes = bytes.subarray(head + length)
    return true
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === TEXT) this.messages.push(JSON.parse(payload.toString()))
    if (opcode === PING) {
      this.pings += 1
      if (this.#answersPings) this.send(PONG, payload)
    }
    if (opcode === CLOSE) this.closed = { code: payload.readUInt16BE(0), reason: payload.toString('utf8', 2) }
  }

  #notify(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of waiting) each()
  }
}
