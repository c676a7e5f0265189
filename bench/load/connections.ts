/**
 * The load generator for everything that wrk cannot do: requests that depend on the connection, a fixed rate, and the time
 * of each answer. It runs in this process. With a rate, every request has a time at which it is due, and its latency counts
 * from then, not from when a connection was free for it: else a server that stands still for a second would have given one
 * slow answer and not thousands (coordinated omission).
 */
import type { Socket } from 'bun'
import { type BenchRequest, requestBytes } from './request.ts'

export interface ConnectionsLoad {
  readonly url: string
  readonly seconds: number
  /** The requests of each connection, sent in a circle. */
  readonly circles: readonly (readonly BenchRequest[])[]
  /** Of all connections; as many as are answered if left out. */
  readonly perSecond?: number
  /** Answers other than 2xx are counted; otherwise they are errors. */
  readonly countsRejected?: boolean
}

/** Sends until the time is over, and gives how many per second were answered with 2xx. */
export async function sendAround(
  { url, seconds, circles, perSecond, countsRejected = false }: ConnectionsLoad,
  onAnswer: (milliseconds: number) => void = () => undefined,
  onRejected: (milliseconds: number) => void = () => undefined,
): Promise<{ rejected: number; perSecond: number }> {
  const address = new URL(url)
  const began = performance.now()
  let [answered, rejected] = [0, 0]
  const sendOn = async (circle: readonly BenchRequest[], index: number) => {
    const connection = await HttpConnection.open(address)
    const requests = circle.map(each => requestBytes(address, each))
    for (let turn = 0; performance.now() - began < seconds * 1000; turn++) {
      let due = performance.now()
      if (perSecond !== undefined) {
        due = began + ((turn * circles.length + index) * 1000) / perSecond
        if (due > performance.now()) await Bun.sleep(due - performance.now())
      }
      const place = turn % requests.length
      const { status, body } = await connection.ask(requests[place] ?? Buffer.alloc(0))
      if (status >= 200 && status < 300) {
        onAnswer(performance.now() - due)
        answered += 1
      } else if (countsRejected) {
        onRejected(performance.now() - due)
        rejected += 1
      } else throw new Error(`${circle[place]?.path} answered ${status}: ${body()}`)
    }
    connection.close()
  }
  await Promise.all(circles.map(sendOn))
  return { rejected, perSecond: answered / ((performance.now() - began) / 1000) }
}

/** The body is read when it is asked for: most are not looked at. */
type RawAnswer = Readonly<{ status: number; body(): string }>

const NOTHING = Buffer.alloc(0)
const STATUS_AT = 'HTTP/1.1 '.length

/**
 * One kept-alive connection that asks one thing at a time. `fetch` opens and closes connections as it likes; here their
 * number is fixed, and the time of an answer is that of its last byte.
 */
class HttpConnection {
  #socket: Socket | undefined
  #unsent: Uint8Array = NOTHING
  #received: Buffer = NOTHING
  #waiting = Promise.withResolvers<RawAnswer>()

  static async open({ hostname, port }: URL): Promise<HttpConnection> {
    const connection = new HttpConnection()
    const broken = () => connection.#waiting.reject(new Error('a connection broke'))
    connection.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, chunk) => connection.#take(chunk),
        drain: () => connection.#send(),
        close: broken,
        error: broken,
      },
    })
    connection.#socket.setNoDelay(true)
    return connection
  }

  ask(request: Uint8Array): Promise<RawAnswer> {
    this.#waiting = Promise.withResolvers()
    this.#unsent = request
    this.#send()
    return this.#waiting.promise
  }

  close(): void {
    this.#waiting.promise.catch(() => undefined)
    this.#socket?.end()
  }

  #send(): void {
    if (this.#unsent.length > 0) this.#unsent = this.#unsent.subarray(this.#socket?.write(this.#unsent))
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
    this.#waiting.resolve({ status, body: () => whole.toString('utf8', bodyStart, end) })
  }
}
