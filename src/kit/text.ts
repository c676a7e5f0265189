/** Decodes and checks external text. Text that cannot be decoded gives undefined. */

/** Names and values of a query string or form, in order. */
export type Pairs = readonly (readonly [name: string, value: string])[]

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

export function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Well-formed Unicode without U+0000: what both stores return unchanged (D-12). */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Negative if `a` comes first by code point, which is the order of UTF-8 and of both stores. */
export function compareCodePoints(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) {
    const [mine, other] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (mine !== other) return rankOfUnit(mine) - rankOfUnit(other)
  }
  return a.length - b.length
}

/** Surrogates stand for code points behind all others. */
function rankOfUnit(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** Splits `a=1&b=2`; empty pieces are skipped (D-11). Undefined if a piece is not percent-encoded UTF-8. */
export function splitPairs(text: string): Pairs | undefined {
  const read = isEncoded(text) ? decodePiece : unchanged
  const pairs: (readonly [string, string])[] = []
  let isWellFormed = true
  eachPiece(text, (start, nameEnd, end) => {
    const name = read(text.slice(start, nameEnd))
    const value = read(text.slice(nameEnd + 1, end))
    if (name === undefined || value === undefined) isWellFormed = false
    else pairs.push([name, value])
  })
  return isWellFormed ? pairs : undefined
}

/** Finds the pieces of `a=1&b=2`: where each starts, where its name ends, and where it ends. Looks at every character once. */
export function eachPiece(text: string, take: (start: number, nameEnd: number, end: number) => void): void {
  let equals = text.indexOf('=')
  for (let start = 0, end: number; start < text.length; start = end + 1) {
    const ampersand = text.indexOf('&', start)
    end = ampersand < 0 ? text.length : ampersand
    if (equals >= 0 && equals < start) equals = text.indexOf('=', start)
    if (end > start) take(start, equals < 0 || equals > end ? end : equals, end)
  }
}

export function isEncoded(text: string): boolean {
  return text.includes('%') || text.includes('+')
}

function decodePiece(text: string): string | undefined {
  return percentDecode(text.replaceAll('+', ' '))
}

function unchanged(text: string): string {
  return text
}
