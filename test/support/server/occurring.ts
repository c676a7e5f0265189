/** As many characters as one number holds, a byte each. */
const BLOCK = 4
/** Texts that are shorter are looked for one by one. */
const SHORTEST = 12
/** A text that long has a whole block at one of the places that are looked at, wherever it begins. */
const STEP = SHORTEST - BLOCK + 1

/** Those of the texts that occur in a long text, in one pass over a few of its places, however many texts they are. */
export function occurring(wanted: readonly string[], text: string): string[] {
  const [long, short] = [
    wanted.filter(({ length }) => length >= SHORTEST),
    wanted.filter(({ length }) => length < SHORTEST),
  ]
  const found = new Set(short.filter(each => text.includes(each)))
  const blocks = Map.groupBy(
    long.flatMap(each => Array.from({ length: STEP }, (_, offset) => ({ each, offset }))),
    ({ each, offset }) => blockAt(each, offset),
  )
  const isWanted = new Uint8Array(1 << 16)
  for (const block of blocks.keys()) isWanted[placeOf(block)] = 1
  for (let at = 0; at + BLOCK <= text.length; at += STEP) {
    const block = blockAt(text, at)
    if (isWanted[placeOf(block)] === 0) continue
    for (const { each, offset } of blocks.get(block) ?? [])
      if (at >= offset && text.startsWith(each, at - offset)) found.add(each)
  }
  return wanted.filter(each => found.has(each))
}

function blockAt(text: string, at: number): number {
  return (
    ((text.charCodeAt(at) & 0xff) << 24) |
    ((text.charCodeAt(at + 1) & 0xff) << 16) |
    ((text.charCodeAt(at + 2) & 0xff) << 8) |
    (text.charCodeAt(at + 3) & 0xff)
  )
}

/** Spreads blocks over the filter. */
function placeOf(block: number): number {
  return Math.imul(block, 0x9e3779b1) >>> 16
}
