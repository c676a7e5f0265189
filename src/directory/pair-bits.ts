/**
 * A filter for searches inside texts. Each row has 512 bits, one for each hash of two adjacent characters in its texts. A
 * text that contains a word has all bits of the word, so a scan of numbers leaves out nearly all rows that do not: with a
 * hundred pairs per row, a word of three letters leaves 3 of 100 rows, one of five letters 1 of 1000. 64 bytes per row.
 * Characters beyond ASCII, of which one can be a word, have a bit each as well.
 */

const WORDS = 16

/** The bits of texts: 16 numbers of 32 bits. */
export type Bits = Int32Array

export function bitsOfAll(texts: readonly string[]): Bits {
  const bits = new Int32Array(WORDS)
  for (const text of texts) addBits(bits, text, 0)
  return bits
}

function addBits(bits: Int32Array, text: string, start: number): void {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (at > 0) setBit(bits, start, Math.imul(before * 0x10001 + unit, 0x9e3779b1) >>> 23)
    if (unit >= 0x80) setBit(bits, start, Math.imul(unit, 0x85ebca6b) >>> 23)
    before = unit
  }
}

function setBit(bits: Int32Array, start: number, bit: number): void {
  const word = start + (bit >>> 5)
  bits[word] = (bits[word] as number) | (1 << (bit & 31))
}

/** The bits of rows, by row index. */
export class PairBits {
  #bits = new Int32Array(1024 * WORDS)

  set(index: number, text: string): void {
    const start = index * WORDS
    if (start >= this.#bits.length) {
      const larger = new Int32Array(Math.max(this.#bits.length * 2, start + WORDS))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits.fill(0, start, start + WORDS)
    addBits(this.#bits, text, start)
  }

  /** The row indexes below `end` that have all of these bits. */
  having(wanted: Bits, end: number): Int32Array {
    return rowsHaving(this.#bits, wanted, Math.min(end, this.#bits.length / WORDS))
  }
}

function rowsHaving(bits: Int32Array, wanted: Bits, end: number): Int32Array {
  const found = new Int32Array(end)
  const used = [...wanted.keys()].filter(word => wanted[word] !== 0)
  let size = 0
  for (let index = 0; index < end; index++) {
    const start = index * WORDS
    let has = true
    for (let each = 0; has && each < used.length; each++) {
      const word = used[each] as number
      const bit = wanted[word] as number
      has = ((bits[start + word] as number) & bit) === bit
    }
    if (has) found[size++] = index
  }
  return found.subarray(0, size)
}
