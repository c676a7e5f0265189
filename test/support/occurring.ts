/** As many characters as one number holds, a byte each. */
const START = 4

/** Those of the texts that occur in a long text, in one pass over it, however many they are. */
export function occurring(wanted: readonly string[], text: string): string[] {
  const byStart = Map.groupBy(
    wanted.filter(({ length }) => length >= START),
    startOf,
  )
  const mayStart = new Uint8Array(1 << 16)
  for (const start of byStart.keys()) mayStart[placeOf(start)] = 1
  const found = new Set<string>()
  let last = 0
  for (let at = 0; at < text.length; at++) {
    last = (last << 8) | (text.charCodeAt(at) & 0xff)
    if (mayStart[placeOf(last)] === 0) continue
    for (const each of byStart.get(last) ?? []) if (text.startsWith(each, at - START + 1)) found.add(each)
  }
  return wanted.filter(each => (each.length < START ? text.includes(each) : found.has(each)))
}

function startOf(text: string): number {
  let start = 0
  for (let at = 0; at < START; at++) start = (start << 8) | (text.charCodeAt(at) & 0xff)
  return start
}

/** Spreads starts over the filter. */
function placeOf(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> 16
}
