/**
 * The load generator for everything that wrk cannot do: requests that depend on the connection, and the time of each answer.
 * It runs in this process.
 */
import type { Socket } from 'bun'
import { type BenchRequest, requestBytes } from './request.ts'

export interface ConnectionsLoad {
  readonly url: string
  readonly seconds: number
  /** The requests of each connection, sent in a circle. */
  readonly circles: readonly (readonly BenchRequest[])[]
}

/** Sends until the time is over. Gives how many per second were answered with 2xx, and how many answers were 503. */
export async function sendAround(
  { url, seconds, circles }: ConnectionsLoad,
  onAnswer: (milliseconds: number, isGood: boolean) => void = () => undefined,
): Promise<{ rejected: number; perSecond: number }> {
  const address = new URL(url)
  const began = performance.now()
  let [answered, rejected] = [0, 0]
  const sendOn = async (circle: readonly BenchRequest[]) => {
    const connection = await HttpConnection.open(address)
    const requests = circle.map(each => requestBytes(address, each))
    for (let turn = 0; performance.now() - began < seconds * 1000; turn++) {
      const asked = performance.now()
      const place = turn % requests.length
      const { status, text } = await connection.ask(requests[place] ?? Buffer.alloc(0))
      const isGood = status >= 200 && status < 300
      if (!isGood && status !== 503) throw new Error(`${circle[place]?.path} answered ${status}: ${text()}`)
      if (isGood) answered += 1
      else rejected += 1
      onAnswer(performance.now() - asked, isGood)
    }
    connection.close()
  }
  await Promise.all(circles.map(sendOn))
  return { rejected, perSecond: answered / ((performance.now() - began) / 1000) }
}

/** Deals requests out to so many connections. */
export function deal(requests: readonly BenchRequest[], connections: number): BenchRequest[][] {
  return Array.from({ length: connections }, (_, n) =>
    requests.filter((__, index) => index % connections === n),
  )
}

/** The body is joined when it is asked for: most are not looked at. */
type RawAnswer = Readonly<{ status: number; bytes: number; text(): string }>

/**
 * One kept-alive connection that asks one thing at a time. `fetch` opens and closes connections as it likes; here their
 * number is fixed, and the time of an answer is that of its last byte.
 */
export class HttpConnection {
  #socket: Socket | undefined
  #unsent: Uint8Array = Buffer.alloc(0)
  #chunks: Buffer[] = []
  #received = 0
  /** Of the answer that is being received, once its headers are complete. */
  #head: Readonly<{ status: number; length: number; end: number }> | undefined
  #waiting = Promise.withResolvers<RawAnswer>()

  static async open({ hostname, port }: URL): Promise<HttpConnection> {
    const connection = new HttpConnection()
    const broken = () => connection.#waiting.reject(new Error('a connection broke'))
    const data = (_: Socket, chunk: Buffer) => connection.#take(chunk)
    const handlers = { data, drain: () => connection.#send(), close: broken, error: broken }
    connection.#socket = await Bun.connect({ hostname, port: Number(port), socket: handlers })
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
    this.#chunks.push(chunk)
    this.#received += chunk.length
    this.#head ??= readHead(this.#chunks)
    if (this.#head === undefined || this.#received < this.#head.end) return
    const [{ status, length, end }, chunks] = [this.#head, this.#chunks]
    this.#head = undefined
    this.#chunks = []
    this.#received = 0
    const text = () => Buffer.concat(chunks).toString('utf8', end - length, end)
    this.#waiting.resolve({ status, bytes: length, text })
  }
}

function readHead(chunks: readonly Buffer[]) {
  const bytes = Buffer.concat(chunks)
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined && status !== 204) throw new Error(`an answer without a length:\n${head}`)
  return { status, length: Number(length ?? 0), end: headEnd + 4 + Number(length ?? 0) }
}
