/** As many characters as one number holds, a byte each. */
const BLOCK = 4
/** Texts that are shorter are looked for one by one. */
const SHORTEST = 12
/** Every second block of a text is looked at: one that long has a whole one of them, wherever it begins. */
const STEP = 2 * BLOCK

/** Those of the texts that occur in a long text, in one pass over half of its blocks, however many texts they are. */
export function occurring(wanted: readonly string[], text: string): string[] {
  const [long, short] = [
    wanted.filter(({ length }) => length >= SHORTEST),
    wanted.filter(({ length }) => length < SHORTEST),
  ]
  const found = new Set(short.filter(each => text.includes(each)))
  const places = Map.groupBy(
    long.flatMap(each => {
      const bytes = Buffer.from(each, 'latin1')
      return Array.from({ length: STEP }, (_, offset) => ({
        each,
        offset,
        block: bytes.readUInt32LE(offset),
      }))
    }),
    ({ block }) => block,
  )
  const isWanted = new Uint8Array(1 << 16)
  for (const block of places.keys()) isWanted[hash(block)] = 1
  const blocks = blocksOf(text)
  for (let index = 0; index < blocks.length; index += STEP / BLOCK) {
    const block = blocks[index] ?? 0
    if (isWanted[hash(block)] === 0) continue
    for (const { each, offset } of places.get(block) ?? [])
      if (text.startsWith(each, index * BLOCK - offset)) found.add(each)
  }
  return wanted.filter(each => found.has(each))
}

/** A text as numbers, without what is left at its end. */
function blocksOf(text: string): Uint32Array {
  const bytes = Buffer.alloc(text.length)
  bytes.write(text, 'latin1')
  return new Uint32Array(bytes.buffer, 0, Math.floor(text.length / BLOCK))
}

/** Spreads blocks over the filter. */
function hash(block: number): number {
  return Math.imul(block, 0x9e3779b1) >>> 16
}
