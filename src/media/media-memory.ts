/** Counts the memory that the broadcasts of this process take, against a bound for all of them (D-257). */
export class MediaMemory {
  readonly limit: number
  #used = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** Windows shrink while this is so. */
  get isShort(): boolean {
    return this.#used > this.limit
  }

  add(bytes: number): void {
    this.#used += bytes
  }
}
