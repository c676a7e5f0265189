/**
 * Reads the answer to one request from the bytes of an HTTP/1.1 connection, as RFC 9112 frames them, in whatever pieces they
 * arrive. Receivers are not trusted: head and body are bounded, and an answer whose end is ambiguous is malformed.
 *
 *     head --1xx--> head (at most 10 times)
 *       '--> body: until a length, the last chunk, or the end of the connection --> complete
 */

export const MAX_HEAD_BYTES = 16 * 1024
/** Of the body as it is sent: chunks count with their framing. */
export const MAX_BODY_BYTES = 8 * 1024
/** A flood of them would keep this process busy until the time is over. */
const MAX_INFORMATIONAL = 10
const VERSION = 'HTTP/1.'
const SWITCHING_PROTOCOLS = 101

const MALFORMED = 'the answer is not valid HTTP'
const HEAD_TOO_LONG = `the head of the answer has more than ${MAX_HEAD_BYTES} bytes`
const BODY_TOO_LONG = `the answer has more than ${MAX_BODY_BYTES} bytes`

/** Where a body ends: after so many bytes, after the last chunk, or with the connection. */
type BodyEnd = number | 'last chunk' | 'close'

export class AnswerReader {
  /** The status of the final answer, once its head is complete. */
  status: number | undefined
  isComplete = false
  /** Why nothing more can be read. */
  failure: string | undefined
  /** Whether any byte of an answer has come. */
  hasBegun = false
  #allowsReuse = false
  #informational = 0
  #bodyEnd: BodyEnd = 0
  /** Bytes of the body that were received, with their framing. */
  #bodyBytes = 0
  /** A character is a byte. */
  #unread = ''
  #body = ''

  /** Whether the connection may have another request: the answer is complete, and nothing followed it. */
  get allowsReuse(): boolean {
    return this.isComplete && this.#allowsReuse && this.#unread === ''
  }

  /** The body as UTF-8. */
  get body(): string {
    return Buffer.from(this.#body, 'latin1').toString()
  }

  push(piece: Buffer): void {
    if (this.isComplete || this.failure !== undefined) {
      this.#allowsReuse = false
      return
    }
    this.hasBegun = true
    this.#unread += piece.toString('latin1')
    if (this.status !== undefined) this.#bodyBytes += piece.length
    while (this.status === undefined && this.failure === undefined) if (!this.#readHead()) return
    if (this.failure === undefined) this.#readBody()
  }

  /** The connection has ended. */
  end(): void {
    if (this.status !== undefined && this.#bodyEnd === 'close') this.isComplete = true
    else if (this.hasBegun && this.status === undefined) this.failure ??= MALFORMED
  }

  /** Returns whether a head was complete. */
  #readHead(): boolean {
    const text = this.#unread
    if (text.slice(0, VERSION.length) !== VERSION.slice(0, text.length)) return this.#fail(MALFORMED)
    const length = text.indexOf('\r\n\r\n')
    const isTooLong = length === -1 ? text.length >= MAX_HEAD_BYTES + 4 : length > MAX_HEAD_BYTES
    if (isTooLong) return this.#fail(HEAD_TOO_LONG)
    if (length === -1) return false
    this.#unread = text.slice(length + 4)
    const head = parseHead(text.slice(0, length))
    if (head === undefined) return this.#fail(MALFORMED)
    const { status, bodyEnd, allowsReuse } = head
    if (status < 200 && status !== SWITCHING_PROTOCOLS) {
      this.#informational += 1
      if (this.#informational > MAX_INFORMATIONAL) return this.#fail('too many informational answers')
      return this.#unread !== ''
    }
    this.status = status
    this.#bodyEnd = bodyEnd
    this.#allowsReuse = allowsReuse
    this.#bodyBytes = this.#unread.length
    return true
  }

  #readBody(): void {
    if (this.#bodyEnd === 'last chunk') this.#readChunks()
    else {
      const length = this.#bodyEnd === 'close' ? this.#unread.length : this.#bodyEnd - this.#body.length
      this.#body += this.#unread.slice(0, length)
      this.#unread = this.#unread.slice(length)
      this.isComplete = this.#body.length === this.#bodyEnd
    }
    const bytes = this.isComplete ? this.#bodyBytes - this.#unread.length : this.#bodyBytes
    if (bytes > MAX_BODY_BYTES) this.#fail(BODY_TOO_LONG)
  }

  /** Reads whole chunks only. What is incomplete is bounded with the body. */
  #readChunks(): void {
    for (;;) {
      const lineEnd = this.#unread.indexOf('\r\n')
      if (lineEnd === -1) return
      const [, digits] = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i.exec(this.#unread.slice(0, lineEnd)) ?? []
      if (digits === undefined) return void this.#fail(MALFORMED)
      const size = Number.parseInt(digits, 16)
      if (size === 0) {
        // Trailers are ignored.
        const end = this.#unread.indexOf('\r\n\r\n', lineEnd)
        if (end === -1) return
        this.#unread = this.#unread.slice(end + 4)
        this.isComplete = true
        return
      }
      const begin = lineEnd + 2
      if (this.#unread.length < begin + size + 2) return
      if (this.#unread.slice(begin + size, begin + size + 2) !== '\r\n') return void this.#fail(MALFORMED)
      this.#body += this.#unread.slice(begin, begin + size)
      this.#unread = this.#unread.slice(begin + size + 2)
    }
  }

  #fail(failure: string): false {
    this.failure = failure
    this.isComplete = false
    return false
  }
}

interface Head {
  readonly status: number
  readonly bodyEnd: BodyEnd
  readonly allowsReuse: boolean
}

/** The head without its last line break; undefined if it is malformed. */
function parseHead(text: string): Head | undefined {
  // A line break of one character would be one to some readers only.
  if (/\r(?!\n)|(?<!\r)\n|\0/.test(text)) return undefined
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, digits] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/.exec(first) ?? []
  if (digits === undefined) return undefined
  const status = Number(digits)
  let length: string | undefined
  let encoding: string | undefined
  let isClosing = minor === '0'
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1 || !TOKEN.test(line.slice(0, colon))) return undefined
    const name = line.slice(0, colon).toLowerCase()
    const value = () => line.slice(colon + 1).trim()
    if (name === 'content-length') {
      if (length !== undefined && length !== value()) return undefined
      length = value()
    } else if (name === 'transfer-encoding') {
      if (encoding !== undefined) return undefined
      encoding = value().toLowerCase()
    } else if (name === 'connection' && /(?:^|,)\s*close\s*(?:,|$)/i.test(value())) isClosing = true
  }
  // With both, two readers would find different ends.
  if (length !== undefined && (encoding !== undefined || !/^\d{1,15}$/.test(length))) return undefined
  const hasBody = status >= 200 && status !== 204 && status !== 304
  if (!hasBody) return { status, bodyEnd: 0, allowsReuse: !isClosing && status !== SWITCHING_PROTOCOLS }
  if (encoding === 'chunked') return { status, bodyEnd: 'last chunk', allowsReuse: !isClosing }
  if (encoding !== undefined || length === undefined) return { status, bodyEnd: 'close', allowsReuse: false }
  return { status, bodyEnd: Number(length), allowsReuse: !isClosing }
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
