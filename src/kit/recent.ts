/**
 * A map that keeps what was used recently, in bounded memory. There are two generations: whatever is used moves into the
 * younger one, and when that is full the older one is dropped. Unlike throwing out the oldest entry of one map, which has
 * to look for it among the places of those already gone, this costs the same however many come.
 */
export class Recent<Value> {
  readonly #most: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** Up to this many are kept for certain, and up to twice as many at all. */
  constructor(most: number) {
    this.#most = most
  }

  get(name: string): Value | undefined {
    const young = this.#young.get(name)
    if (young !== undefined) return young
    const old = this.#old.get(name)
    if (old !== undefined) this.set(name, old)
    return old
  }

  set(name: string, value: Value): void {
    if (this.#young.size >= this.#most && !this.#young.has(name)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(name, value)
  }

  delete(name: string): void {
    this.#young.delete(name)
    this.#old.delete(name)
  }
}
