import { type BenchRequest, headersOf } from '../scenarios/scenario.ts'

/** A request as it goes over the connection. */
export function requestBytes(address: URL, request: BenchRequest): Uint8Array {
  const { method = 'GET', path } = request
  const body = request.body === undefined ? '' : JSON.stringify(request.body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${address.host}`,
    ...Object.entries(headersOf(request)).map(([name, value]) => `${name}: ${value}`),
    ...(request.body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
