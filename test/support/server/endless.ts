/** A client that sends a body without end, over a separate socket. */
import { connect } from 'node:net'

export type Framing = 'chunked' | 'length'
export const FRAMINGS: readonly Framing[] = ['chunked', 'length']

export interface EndlessRequest {
  readonly port: number
  readonly method: string
  readonly target: string
  readonly framing: Framing
  /** Header lines beside Host and those of the framing. */
  readonly headers?: readonly string[]
}

export interface Outcome {
  /** Undefined if the server hung up without an answer. */
  readonly status: number | undefined
  readonly closedByServer: boolean
  readonly sentBytes: number
}

/** How a body is sent, and for how long. */
export interface Pace {
  readonly blockBytes: number
  /** The pause between blocks; 0 for as fast as the connection takes them. */
  readonly pauseMilliseconds: number
  /** When to stop, whatever the server does. */
  readonly mostBytes: number
  readonly mostMilliseconds: number
  /** When to stop after the answer; undefined for not before the server closes the connection. */
  readonly bytesAfterAnswer?: number
}

const MEGABYTE = 1_000_000

/** More than a server may hold, if nothing stops it. */
export const FLOOD: Pace = {
  blockBytes: 64 * 1024,
  pauseMilliseconds: 0,
  mostBytes: 120 * MEGABYTE,
  mostMilliseconds: 20_000,
  bytesAfterAnswer: 2 * MEGABYTE,
}

export async function sendEndless(request: EndlessRequest, pace: Pace): Promise<Outcome> {
  const socket = connect(request.port, '127.0.0.1')
  const began = performance.now()
  let received = ''
  let sentBytes = 0
  let sentBeforeAnswer: number | undefined
  let closed = false
  let wake: () => void = () => undefined
  const onWake = () => wake()
  socket.on('data', (chunk: Uint8Array) => {
    received += Buffer.from(chunk).toString('latin1')
    sentBeforeAnswer ??= sentBytes
  })
  // A connection that is cut while we write is the expected end of many of these.
  socket.on('error', () => undefined)
  socket.on('drain', onWake)
  socket.on('close', () => {
    closed = true
    onWake()
  })
  const isOver = () =>
    closed ||
    sentBytes >= pace.mostBytes ||
    performance.now() - began >= pace.mostMilliseconds ||
    (pace.bytesAfterAnswer !== undefined &&
      sentBeforeAnswer !== undefined &&
      sentBytes - sentBeforeAnswer >= pace.bytesAfterAnswer)

  socket.write(headOf(request))
  const block = blockOf(request.framing, pace.blockBytes)
  while (!isOver()) {
    const isTaken = socket.write(block)
    sentBytes += pace.blockBytes
    const pause = isTaken ? pace.pauseMilliseconds : 1000
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, pause)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  const closedByServer = closed
  socket.destroy()
  const [, status] = /^HTTP\/1\.1 ([0-9]{3})/.exec(received) ?? []
  return { status: status === undefined ? undefined : Number(status), closedByServer, sentBytes }
}

function headOf({ method, target, framing, headers = [] }: EndlessRequest): string {
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : 'Content-Length: 99999999999'
  return [`${method} ${target} HTTP/1.1`, 'Host: localhost', length, ...headers, '', ''].join('\r\n')
}

function blockOf(framing: Framing, bytes: number): Uint8Array {
  const block = Buffer.alloc(bytes, 'x')
  if (framing === 'length') return block
  return Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), block, Buffer.from('\r\n')])
}
