interface Options<Value> {
  /** How much of the capacity an entry takes (default: 1). */
  weigh?(value: Value): number
  /** Called with the values of old entries after they were dropped. */
  dropped?(values: Iterable<Value>): void
}

/**
 * A map of recently used entries in bounded memory. It has two generations: an entry that is used moves into the younger
 * one, and when that is full, the older one is dropped. The cost is constant, unlike deleting the oldest entry of a single
 * map, which has to skip the slots of deleted entries.
 */
export class LruCache<Value> {
  readonly #most: number
  readonly #options: Options<Value>
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()
  /** Of all young entries. */
  #weight = 0
  #generation = 0

  /** Keeps at least the `most` most recent entries, and at most twice as many. */
  constructor(most: number, options: Options<Value> = {}) {
    this.#most = most
    this.#options = options
  }

  /** Changes when entries grow old or are cleared. Until then, one that was found counts as recently used. */
  get generation(): number {
    return this.#generation
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(name: string): Value | undefined {
    const young = this.#young.get(name)
    if (young !== undefined) return young
    const old = this.#old.get(name)
    if (old !== undefined) this.set(name, old)
    return old
  }

  set(name: string, value: Value): void {
    this.delete(name)
    const weight = this.#weigh(value)
    const isFull = this.#weight + weight > this.#most
    const older = this.#old
    if (isFull) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
      this.#generation += 1
    }
    this.#young.set(name, value)
    this.#weight += weight
    if (isFull) this.#options.dropped?.(older.values())
  }

  /** Returns the value that was deleted. */
  delete(name: string): Value | undefined {
    const young = this.#young.get(name)
    if (young !== undefined) this.#weight -= this.#weigh(young)
    const value = young ?? this.#old.get(name)
    this.#young.delete(name)
    this.#old.delete(name)
    return value
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#weight = 0
    this.#generation += 1
  }

  *[Symbol.iterator](): Generator<[string, Value]> {
    yield* this.#old
    yield* this.#young
  }

  #weigh(value: Value): number {
    return this.#options.weigh?.(value) ?? 1
  }
}
