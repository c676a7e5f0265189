import { randomInt } from 'node:crypto'
import type { EarlierLines } from '../store/transfer/resource.ts'

const SMALLEST = 1 << 12
const FULLEST = 0.7

/**
 * What the lines of a file have claimed so far. A million claims must fit, so each is stored as a 64-bit hash instead of
 * text: 8 bytes, in a table that doubles when it is 70% full. Two claims with the same hash would be taken for one. Among a
 * million that happens once in thirty million files, and the hash is seeded per file.
 */
export class SeenLines implements EarlierLines {
  readonly #seed = BigInt(randomInt(2 ** 47))
  #slots = new BigUint64Array(SMALLEST)
  #count = 0

  has(...what: readonly string[]): boolean {
    const number = this.#numberOf(what)
    return this.#slots[this.#placeOf(number, this.#slots)] === number
  }

  /** Returns whether it is new. */
  add(...what: readonly string[]): boolean {
    const number = this.#numberOf(what)
    const place = this.#placeOf(number, this.#slots)
    if (this.#slots[place] === number) return false
    this.#slots[place] = number
    this.#count += 1
    if (this.#count > this.#slots.length * FULLEST) this.#grow()
    return true
  }

  /** Never 0, which marks an empty slot. */
  #numberOf(what: readonly string[]): bigint {
    return Bun.hash.wyhash(what.join('\0'), this.#seed) || 1n
  }

  #placeOf(number: bigint, slots: BigUint64Array): number {
    const mask = slots.length - 1
    let place = Number(number & 0xffff_ffffn) & mask
    while (slots[place] !== 0n && slots[place] !== number) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2)
    for (const number of this.#slots) if (number !== 0n) larger[this.#placeOf(number, larger)] = number
    this.#slots = larger
  }
}
