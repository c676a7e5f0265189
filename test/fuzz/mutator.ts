/** What makes broken input of valid input. The same seed gives the same bytes, and a case allocates nothing. */

const SCRATCH_BYTES = 32 * 1024
const INTERESTING = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff] as const
const INTERESTING_NUMBERS = [
  0, 1, 7, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff,
]
const MAX_INSERTED = 16

export class Mutator {
  readonly #seeds: readonly Uint8Array[]
  readonly #tokens: readonly Uint8Array[]
  readonly #scratch = Buffer.alloc(SCRATCH_BYTES)
  #length = 0
  #state = 0

  /** @param tokens texts that mean something to the parser, put in at random places */
  constructor(seeds: readonly Uint8Array[], tokens: readonly string[] = []) {
    this.#seeds = seeds
    this.#tokens = tokens.map(token => Buffer.from(token))
  }

  /** Starts a case. The bytes of the one before are overwritten. */
  start(seed: number): void {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0
  }

  /** A whole number below the limit. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * limit)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T
  }

  /** A seed with up to five mutations; one case in sixteen has none. */
  bytes(): Buffer {
    this.#length = 0
    this.#append(this.pick(this.#seeds), 0)
    const count = this.below(16) === 0 ? 0 : 1 + this.below(5)
    for (let done = 0; done < count; done++) this.#mutate()
    return this.#scratch.subarray(0, this.#length)
  }

  #mutate(): void {
    const at = this.below(this.#length + 1)
    switch (this.below(this.#tokens.length > 0 ? 10 : 8)) {
      case 0:
      case 1:
        this.#write(at, (this.#scratch[at] ?? 0) ^ (1 << this.below(8)))
        return
      case 2:
        this.#write(at, this.below(2) === 0 ? this.pick(INTERESTING) : this.below(256))
        return
      case 3:
        this.#number(at)
        return
      case 4:
        this.#length = this.below(8) === 0 ? at : Math.max(0, this.#length - this.below(MAX_INSERTED))
        return
      case 5:
        this.#remove(at, 1 + this.below(MAX_INSERTED))
        return
      case 6:
        this.#insert(at, 1 + this.below(MAX_INSERTED))
        return
      case 7:
        this.#length = at
        this.#append(this.pick(this.#seeds), this.below(64))
        return
      default: {
        const token = this.pick(this.#tokens)
        if (this.below(2) === 0) this.#remove(at, token.length)
        if (this.#insert(at, token.length)) this.#scratch.set(token, at)
      }
    }
  }

  #write(at: number, value: number): void {
    if (at < this.#length) this.#scratch[at] = value
  }

  /** A length, a count or a time, in one of the sizes that formats have. */
  #number(at: number): void {
    const bytes = this.pick([2, 3, 4, 4])
    if (at + bytes > this.#length) return
    const value = this.below(3) === 0 ? this.#length - at + this.below(5) - 2 : this.pick(INTERESTING_NUMBERS)
    const mask = bytes === 4 ? 0xffffffff : 2 ** (8 * bytes) - 1
    this.#scratch.writeUIntBE((value & mask) >>> 0, at, bytes)
  }

  #remove(at: number, count: number): void {
    const end = Math.min(this.#length, at + count)
    this.#scratch.copyWithin(at, end, this.#length)
    this.#length -= Math.max(0, end - at)
  }

  /** Makes room, with bytes of what follows or random ones. */
  #insert(at: number, count: number): boolean {
    if (at > this.#length || this.#length + count > SCRATCH_BYTES) return false
    this.#scratch.copyWithin(at + count, at, this.#length)
    this.#length += count
    if (this.below(2) === 0) for (let n = 0; n < count; n++) this.#scratch[at + n] = this.below(256)
    return true
  }

  #append(bytes: Uint8Array, from: number): void {
    const some = bytes.subarray(Math.min(from, bytes.length), from + SCRATCH_BYTES - this.#length)
    this.#scratch.set(some, this.#length)
    this.#length += some.length
  }
}

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  'x',
  '\ud800',
  '\0',
  '__proto__',
  [],
  {},
]

/** A JSON value with one part replaced, removed, doubled or renamed. */
export function mutateJson(value: unknown, random: Mutator): unknown {
  if (typeof value !== 'object' || value === null || random.below(8) === 0) {
    if (typeof value === 'string' && random.below(2) === 0)
      return random.pick([`${value}x`, value.slice(1), value.repeat(20)])
    return random.pick(VALUES)
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return [random.pick(VALUES)]
    const at = random.below(value.length)
    if (random.below(4) === 0) return value.filter((_, index) => index !== at)
    if (random.below(4) === 0) return [...value, value[at]]
    return value.map((each, index) => (index === at ? mutateJson(each, random) : each))
  }
  const entries = Object.entries(value)
  const [name, part] = random.pick(entries) ?? ['x', null]
  const how = random.below(8)
  if (how === 0) return Object.fromEntries(entries.filter(([key]) => key !== name))
  if (how === 1) return { ...value, [`${name}x`]: part }
  return { ...value, [name]: mutateJson(part, random) }
}
