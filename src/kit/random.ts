/** A small seeded generator (mulberry32): the same seed gives the same world. Never for secrets of a real installation. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A generator that continues with the same numbers. */
  clone(): SeededRandom {
    return new SeededRandom(this.#state)
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<T>(from: readonly T[]): T {
    const chosen = from[this.between(0, from.length - 1)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }

  hex(digits: number): string {
    let text = ''
    while (text.length < digits) text += this.between(0, 15).toString(16)
    return text
  }

  uuid(): string {
    const h = this.hex(32)
    const variant = '89ab'[Number.parseInt(h.charAt(16), 16) % 4]
    return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`
  }
}
