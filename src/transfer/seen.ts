import { randomInt } from 'node:crypto'
import type { EarlierLines } from '../store/transfer/line-type.ts'

const SMALLEST = 1 << 12
const FULLEST = 0.7

/**
 * What the lines of a file have claimed so far. A million claims must fit, so each is stored as a 64-bit hash instead of
 * text: 8 bytes, in a table that doubles when it is 70% full. Two claims with the same hash would be taken for one. Among a
 * million that happens once in thirty million files, and the hash is seeded per file.
 *
 * A hash is handled as two numbers of 32 bits, since arithmetic with large integers takes several times as long.
 */
export class SeenLines implements EarlierLines {
  readonly #seed = BigInt(randomInt(2 ** 47))
  readonly #hash = new BigUint64Array(1)
  readonly #halves = new Uint32Array(this.#hash.buffer)
  /** Two numbers for each slot; both are 0 in an empty one. */
  #slots = new Uint32Array(2 * SMALLEST)
  #count = 0

  has(...what: readonly string[]): boolean {
    return this.#slots[this.#findPlace(what)] !== 0
  }

  /** Returns whether it is new. */
  add(...what: readonly string[]): boolean {
    const place = this.#findPlace(what)
    if (this.#slots[place] !== 0) return false
    this.#slots[place] = this.#halves[0] as number
    this.#slots[place + 1] = this.#halves[1] as number
    this.#count += 1
    if (2 * this.#count > this.#slots.length * FULLEST) this.#grow()
    return true
  }

  /** Where the hash is, or belongs. */
  #findPlace(what: readonly string[]): number {
    let text = what[0] ?? ''
    for (let at = 1; at < what.length; at++) text += `\0${what[at]}`
    this.#hash[0] = Bun.hash.wyhash(text, this.#seed)
    // Never 0, which marks an empty slot.
    this.#halves[0] ||= 1
    return placeIn(this.#slots, this.#halves[0] as number, this.#halves[1] as number)
  }

  #grow(): void {
    const slots = this.#slots
    const larger = new Uint32Array(2 * slots.length)
    for (let from = 0; from < slots.length; from += 2) {
      const [low, high] = [slots[from] as number, slots[from + 1] as number]
      if (low === 0) continue
      const place = placeIn(larger, low, high)
      larger[place] = low
      larger[place + 1] = high
    }
    this.#slots = larger
  }
}

function placeIn(slots: Uint32Array, low: number, high: number): number {
  const mask = slots.length - 1
  // The high half chooses the slot: the low one is never 0, so it is less random.
  let place = (2 * high) & mask
  while (slots[place] !== 0 && (slots[place] !== low || slots[place + 1] !== high)) place = (place + 2) & mask
  return place
}
