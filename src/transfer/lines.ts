/** Longer lines are refused: the longest useful one, a client with twenty redirect URIs, is a quarter of this. */
export const MAX_LINE_BYTES = 256 * 1024

const TOO_LONG = `it is longer than ${MAX_LINE_BYTES} bytes`
const NOT_TEXT = 'it is not UTF-8'
const GZIPPED = 'it is not UTF-8 but a gzip file: gunzip it first'
const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\ufeff'

/** A line of a file with its number, from 1. A line that is not text or too long has a violation instead of text. */
export interface NumberedLine {
  readonly number: number
  readonly text?: string
  readonly violation?: string
}

/**
 * Splits bytes into lines, holding no more than one chunk and one line. Empty lines are counted but skipped. A chunk is
 * decoded as a whole; only if it is not UTF-8, line by line, to find the invalid one.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let number = 0
  let rest: Uint8Array = new Uint8Array()
  /** Skipping the rest of a line that was too long. */
  let isSkipping = false

  function cut(bytes: Uint8Array): NumberedLine[] {
    const lines: NumberedLine[] = []
    for (const line of decodedLines(decoder, bytes)) {
      number += 1
      if (line === undefined)
        lines.push({ number, violation: number === 1 && isGzip(bytes) ? GZIPPED : NOT_TEXT })
      else if (isTooLong(line)) lines.push({ number, violation: TOO_LONG })
      else {
        const text = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line
        if (text.trim() !== '') lines.push({ number, text })
      }
    }
    return lines
  }

  for await (const received of chunks) {
    const start = isSkipping ? received.indexOf(NEWLINE) + 1 : 0
    if (isSkipping && start === 0) continue
    isSkipping = false
    const chunk = received.subarray(start)
    const end = chunk.lastIndexOf(NEWLINE)
    if (end < 0) {
      rest = Buffer.concat([rest, chunk])
      if (rest.length <= MAX_LINE_BYTES) continue
      rest = new Uint8Array()
      isSkipping = true
      number += 1
      yield [{ number, violation: TOO_LONG }]
      continue
    }
    const head = chunk.subarray(0, end)
    const lines = cut(rest.length === 0 ? head : Buffer.concat([rest, head]))
    rest = chunk.slice(end + 1)
    if (lines.length > 0) yield lines
  }
  if (rest.length > 0) yield cut(rest)
}

/** Checks the length first: a character is at most four bytes, and most lines are short. */
function isTooLong(line: string): boolean {
  return line.length > MAX_LINE_BYTES / 4 && Buffer.byteLength(line) > MAX_LINE_BYTES
}

function decodedLines(decoder: TextDecoder, bytes: Uint8Array): (string | undefined)[] {
  const whole = decoded(decoder, bytes)
  if (whole !== undefined) return whole.split('\n')
  const lines: (string | undefined)[] = []
  for (let start = 0; start <= bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline < 0 ? bytes.length : newline
    lines.push(decoded(decoder, bytes.subarray(start, end)))
    start = end + 1
  }
  return lines
}

const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b

function decoded(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
