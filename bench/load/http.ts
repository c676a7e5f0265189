/** Requests, and what sends them where wrk cannot: where the time of each answer matters, or none may be sent twice. */
import { type RawAnswer, Wire } from '../../test/support/server/wire.ts'

export interface BenchRequest {
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Requests to send, and the body of a typical answer. */
export interface Load {
  readonly requests: readonly BenchRequest[]
  readonly body: Buffer
}

function headersOf({ token, body, headers }: BenchRequest): Record<string, string> {
  return {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...headers,
  }
}

/** A request as it is sent over the connection. */
export function requestBytes(url: string, request: BenchRequest): Buffer {
  const { method = 'GET', path, body } = request
  const text = body === undefined ? '' : JSON.stringify(body)
  const length = body !== undefined && { 'Content-Length': Buffer.byteLength(text) }
  const headers = { Host: new URL(url).host, ...headersOf(request), ...length }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
}

/** One request outside of the load. Throws unless it is answered with 2xx. */
export async function ask({ url }: { readonly url: string }, request: BenchRequest): Promise<Buffer> {
  const { method = 'GET', path, body } = request
  const content = body === undefined ? null : JSON.stringify(body)
  const answer = await fetch(url + path, { method, headers: headersOf(request), body: content })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${bytes}`)
  return bytes
}

/**
 * Sends requests over so many connections, each the next one as soon as it is answered, until the time is over or none is
 * left. Gives how many per second were answered with 2xx, and how many answers were 503.
 */
export async function send(
  { url }: { readonly url: string },
  load: Readonly<{ requests: Iterator<BenchRequest>; connections: number; seconds: number }>,
  onAnswer: (milliseconds: number, isGood: boolean) => void = () => undefined,
): Promise<{ rejected: number; perSecond: number }> {
  const began = performance.now()
  let [answered, rejected] = [0, 0]
  const sendOn = async () => {
    const wire = await Wire.open(url)
    while (performance.now() - began < load.seconds * 1000) {
      const { value } = load.requests.next()
      if (value === undefined) break
      const asked = performance.now()
      const answer = await askOver(wire, requestBytes(url, value))
      const isGood = answer.status >= 200 && answer.status < 300
      if (!isGood && answer.status !== 503) throw new Error(`status ${answer.status}: ${answer.text}`)
      if (isGood) answered += 1
      else rejected += 1
      onAnswer(performance.now() - asked, isGood)
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: load.connections }, sendOn))
  return { rejected, perSecond: answered / ((performance.now() - began) / 1000) }
}

export async function askOver(wire: Wire, request: Uint8Array): Promise<RawAnswer> {
  await wire.send(request)
  const answer = await wire.answer()
  if (answer === undefined) throw new Error('a connection broke')
  return answer
}
