/** One request, as both load generators send it. */
export interface BenchRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly token?: string
  readonly body?: unknown
  /** The address of the caller, for a server that trusts this one as its proxy. */
  readonly from?: string
  /** As browsers ask for a page. */
  readonly isBrowser?: boolean
}

export function headersOf({ token, body, from, isBrowser }: BenchRequest): Record<string, string> {
  return {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(from !== undefined && { 'X-Forwarded-For': from }),
    ...(isBrowser && { Accept: 'text/html', 'Accept-Encoding': 'gzip, br' }),
  }
}

/** A request as it is sent over the connection. */
export function requestBytes(address: URL, request: BenchRequest): Buffer {
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
