/**
 * One kept-alive connection that asks one thing at a time. `fetch` opens and closes connections as it likes and works on a
 * thread of its own; here their number is fixed, so that the server's open files can be compared, and an answer's moment is
 * that of its last byte.
 */
import type { Socket } from 'bun'

export interface RawAnswer {
  readonly status: number
  /** Reads the body; many are not looked at. */
  body(): string
}

type Waiting = (answer: RawAnswer | 'broken') => void

export class HttpConnection {
  #socket: Socket | undefined
  #unsent: Uint8Array | undefined
  #received: Buffer = NOTHING
  #waiting: Waiting | undefined
  readonly #onClose: () => void

  private constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  static async open(hostname: string, port: number, onClose: () => void): Promise<HttpConnection> {
    const connection = new HttpConnection(onClose)
    connection.#socket = await Bun.connect({
      hostname,
      port,
      socket: {
        data: (_, chunk) => connection.#take(chunk),
        drain: () => connection.#send(),
        close: () => connection.#break(),
        error: () => connection.#break(),
      },
    })
    connection.#socket.setNoDelay(true)
    return connection
  }

  ask(request: Uint8Array, waiting: Waiting): void {
    if (this.#waiting !== undefined) throw new Error('this connection is still waiting for an answer')
    this.#waiting = waiting
    this.#unsent = request
    this.#send()
  }

  close(): void {
    this.#socket?.end()
  }

  #send(): void {
    if (this.#unsent === undefined || this.#socket === undefined) return
    const sent = this.#socket.write(this.#unsent)
    if (sent < 0) this.#break()
    else this.#unsent = sent < this.#unsent.length ? this.#unsent.subarray(sent) : undefined
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = this.#received.toString('latin1', 0, headEnd)
    const status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined && status !== 204) throw new Error(`an answer without a length:\n${head}`)
    const bodyStart = headEnd + 4
    const end = bodyStart + Number(length ?? 0)
    if (this.#received.length < end) return
    const whole = this.#received
    this.#received = NOTHING
    this.#answer({ status, body: () => whole.toString('utf8', bodyStart, end) })
  }

  /** A connection that fails is told twice: as an error, and then as closed. */
  #break(): void {
    if (this.#socket === undefined) return
    this.#socket = undefined
    this.#answer('broken')
    this.#onClose()
  }

  #answer(answer: RawAnswer | 'broken'): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#unsent = undefined
    waiting?.(answer)
  }
}

const NOTHING = Buffer.alloc(0)
const STATUS_AT = 'HTTP/1.1 '.length
