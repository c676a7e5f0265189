import { hkdfSync } from 'node:crypto'

/** One 256-bit master key with the id that is stored with everything it encrypts. */
export interface MasterKey {
  readonly id: string
  readonly bytes: Uint8Array
}

/**
 * The master keys of an installation, newest first. The newest encrypts and all decrypt, so that a key can be replaced
 * while the server runs. Master keys are not used directly: each purpose derives a key.
 */
export class KeyRing {
  readonly #derived = new Map<string, Uint8Array>()
  /** All keys by purpose. */
  readonly #derivedLists = new Map<string, readonly Uint8Array[]>()
  #keys: ReadonlyMap<string, MasterKey> = new Map()
  #newest = ''
  #generation = 0

  constructor(keys: readonly MasterKey[]) {
    this.take(keys)
  }

  /** Replaces the keys: a running server follows the key file. */
  take(keys: readonly MasterKey[]): void {
    const [first] = keys
    if (first === undefined) throw new Error('a key ring needs at least one key')
    this.#newest = first.id
    this.#keys = new Map(keys.map(key => [key.id, key]))
    this.#derived.clear()
    this.#derivedLists.clear()
    this.#generation += 1
  }

  /** The id of the key that encrypts. */
  get newest(): string {
    return this.#newest
  }

  /** The ids of all keys, newest first. */
  get ids(): string[] {
    return [...this.#keys.keys()]
  }

  /** Increases whenever the keys are replaced, to invalidate values derived from them. */
  get generation(): number {
    return this.#generation
  }

  /** The keys for one purpose, newest first. */
  deriveAll(purpose: string): readonly Uint8Array[] {
    const known = this.#derivedLists.get(purpose)
    if (known !== undefined) return known
    const keys = this.ids.map(id => this.derive(purpose, id)).filter(key => key !== undefined)
    this.#derivedLists.set(purpose, keys)
    return keys
  }

  /** The key for one purpose, or undefined if the ring has no master key with this id. */
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
    if (key === undefined) throw new Error('the newest key is not in the ring')
    return key
  }
}

/** Reads `id:base64,id:base64`, the form of the setting and of the file. */
export function parseMasterKeys(text: string): MasterKey[] | undefined {
  const keys: MasterKey[] = []
  for (const each of text.split(',')) {
    const [, id, encoded = ''] = /^\s*([A-Za-z0-9-]{1,32}):([A-Za-z0-9+/_-]+={0,2})\s*$/.exec(each) ?? []
    const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
    if (id === undefined || bytes.length !== 32 || keys.some(key => key.id === id)) return undefined
    keys.push({ id, bytes })
  }
  return keys
}

/** Writes the same form. */
export function masterKeysText(keys: readonly MasterKey[]): string {
  return keys.map(({ id, bytes }) => `${id}:${Buffer.from(bytes).toString('base64')}`).join(',')
}
