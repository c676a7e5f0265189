/**
 * A map of recently used entries in bounded memory. It has two generations: an entry that is used moves into the younger
 * one, and when that is full, the older one is dropped. The cost is constant, unlike deleting the oldest entry of a single
 * map, which has to skip the slots of deleted entries.
 */
export class Recent<Value> {
  readonly #most: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** Keeps at least the `most` most recent entries, and at most twice as many. */
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
