/** Reads numbers of some bits, as the headers of video have them. Behind the end there are zeros, and `isPastEnd` is set. */
export class BitReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isPastEnd(): boolean {
    return this.#at > this.#bytes.length * 8
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3] ?? 0
    const value = (byte >> (7 - (this.#at & 7))) & 1
    this.#at += 1
    return value
  }

  /** A number of up to 32 bits. */
  bits(count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 2 + this.bit()
    return value
  }

  skip(count: number): void {
    this.#at += count
  }

  /** A number whose length is coded by zeros in front of it (Exp-Golomb). */
  unsigned(): number {
    let zeros = 0
    while (zeros < 32 && !this.isPastEnd && this.bit() === 0) zeros += 1
    return 2 ** zeros - 1 + this.bits(zeros)
  }

  /** A signed number, coded like `unsigned`: 1, -1, 2, -2... */
  signed(): number {
    const value = this.unsigned()
    return value % 2 === 1 ? (value + 1) / 2 : -value / 2
  }
}
