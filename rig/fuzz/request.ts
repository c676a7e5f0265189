/** A request as the fuzzer sends it. Strings are Latin-1: one character per byte, so that any byte can be sent. */
export interface FuzzRequest {
  readonly operationId: string
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: Uint8Array
  /**
   * The head was mutated at random or is too long: it may be malformed, or a request for something else. The response is only
   * checked for server errors and secrets.
   */
  readonly isBroken: boolean
}

export function bytesOf(request: FuzzRequest, host: string): Uint8Array {
  const { method, target, headers, body } = request
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
    '',
    '',
  ]
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? new Uint8Array(0)])
}

/** The same request as a curl command. */
export function curlOf(request: FuzzRequest, url: string): string {
  const { method, target, headers, body } = request
  const words = ['curl', '-i', '--path-as-is', '--globoff', '-X', quoted(method)]
  for (const [name, value] of headers) words.push('-H', quoted(`${name}: ${value}`))
  if (body !== undefined) {
    if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) words.push('-H', "'Content-Type:'")
    words.push('--data-binary', quoted(Buffer.from(body).toString('latin1')))
  }
  return [...words, quoted(`${url}${target}`)].join(' ')
}

/** Quotes a word for bash, with escapes for bytes that are not printable. */
function quoted(text: string): string {
  if (/^[ -~]*$/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`
  const escaped = [...text].map(each => {
    if (each === "'" || each === '\\') return `\\${each}`
    return /[ -~]/.test(each) ? each : `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return `$'${escaped.join('')}'`
}
