import { hkdfSync } from 'node:crypto'

/** One 256-bit master key with the name that is written beside everything made with it. */
export interface MasterKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/**
 * The master keys of an installation, newest first. The newest writes, every one of them reads, so that a key can be
 * replaced while the server runs. No master key is used directly: each purpose derives its own.
 */
export class KeyRing {
  readonly #derived = new Map<string, Uint8Array>()
  #keys: ReadonlyMap<string, MasterKey> = new Map()
  #newest = ''
  #generation = 0

  constructor(keys: readonly MasterKey[]) {
    this.take(keys)
  }

  /** Takes these keys instead of those it had: a running server follows the file they are in. */
  take(keys: readonly MasterKey[]): void {
    const [first] = keys
    if (first === undefined) throw new Error('a key ring needs at least one key')
    this.#newest = first.id
    this.#keys = new Map(keys.map(key => [key.id, key]))
    this.#derived.clear()
    this.#generation += 1
  }

  /** The name of the key that writes. */
  get newest(): string {
    return this.#newest
  }

  /** The names of all, newest first. */
  get ids(): string[] {
    return [...this.#keys.keys()]
  }

  /** Counts how often keys were taken: whoever keeps something made of them looks whether it is still theirs. */
  get generation(): number {
    return this.#generation
  }

  /** The keys for one purpose, newest first. */
  deriveAll(purpose: string): Uint8Array[] {
    return this.ids.map(id => this.derive(purpose, id)).filter(key => key !== undefined)
  }

  /** The key for one purpose, or undefined if this ring has no master key of that name. */
  derive(purpose: string, id: string): Uint8Array | undefined {
    const master = this.#keys.get(id)
    if (master === undefined) return undefined
    const cached = this.#derived.get(`${id}/${purpose}`)
    if (cached !== undefined) return cached
    const key = new Uint8Array(hkdfSync('sha256', master.bytes, new Uint8Array(), `strand/${purpose}`, 32))
    this.#derived.set(`${id}/${purpose}`, key)
    return key
  }

  deriveNewest(purpose: string): Uint8Array {
    const key = this.derive(purpose, this.#newest)
    if (key === undefined) throw new Error('the newest key is in the ring')
    return key
  }
}
