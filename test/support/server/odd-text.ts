/** Text that no client sends by mistake, percent-encoded for a query string or a form. */
export interface OddText {
  readonly title: string
  readonly encoded: string
  /** Whether no operation and no page may take it. */
  readonly refused: boolean
  /** Whether it can be decoded. */
  readonly isText: boolean
}

const odd = (title: string, encoded: string, refused = false): OddText => {
  return { title, encoded, refused, isText: isDecodable(encoded) }
}

function isDecodable(encoded: string): boolean {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}

export const ODD_TEXTS: readonly OddText[] = [
  odd('U+0000', '%00', true),
  odd('U+0000 inside', 'a%00b', true),
  odd('a lone surrogate', '%ED%A0%80', true),
  odd('a byte that is not UTF-8', '%FF', true),
  odd('a broken percent', '%', true),
  odd('CR and LF', 'a%0D%0ASet-Cookie:%20x=y%0D%0A%0D%0A'),
  odd('other control characters', '%01%1F%7F%C2%85'),
  odd('text outside the BMP', '%F0%9F%98%80'.repeat(30)),
  odd('9,000 characters', 'x'.repeat(9000)),
  odd('a prototype', '__proto__'),
  odd('a constructor', 'constructor'),
  odd('markup', '%22%3E%3Cscript%3E'),
]

/** Too long for a head; a body can carry it. */
export const LONG_TEXT = odd('60,000 characters', 'x'.repeat(60_000))

/** Bytes as a header can carry them, written as Latin-1. */
const ODD_HEADER_VALUES: readonly string[] = [
  '',
  '\xff\xfe\x80',
  'a\xedb\xa0c\x80',
  ', ,;;==',
  '__proto__',
  'constructor',
  '%00%0D%0A',
  'x'.repeat(9000),
]

const ODD_HEADERS: readonly string[] = [
  'Authorization',
  'Client-Id',
  'Content-Type',
  'Cookie',
  'Idempotency-Key',
  'Origin',
  'Sec-Fetch-Site',
  'User-Agent',
  'X-Forwarded-For',
  'X-Request-Id',
]

/** Headers with odd values: one in so many of the values for each header. */
export function oddHeaders(oneIn: number): (readonly [header: string, value: string])[] {
  return ODD_HEADERS.flatMap((header, place) =>
    ODD_HEADER_VALUES.filter((_, turn) => (turn + place) % oneIn === 0).map(
      value => [header, value] as const,
    ),
  )
}

/** The lines of a log about failures of the server. */
export function violationsIn(logLines: readonly string[]): string[] {
  return logLines.filter(line => /"level":"(?:error|fatal)"|unavailable/.test(line))
}
