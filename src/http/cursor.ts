import { timingSafeEqual } from 'node:crypto'
import type { Key } from '../contract/page.ts'
import type { KeyRing } from '../kit/key-ring.ts'

/** Where a page began and ended, and what its walk remembers. */
export interface Bookmark {
  readonly first: Key
  readonly last: Key
  readonly memory?: Key | undefined
}

const VERSION = 1
const MAC_BYTES = 16
const HEAD_BYTES = 1 + MAC_BYTES
const PURPOSE = 'cursor'

/**
 * Cursors: base64url of a version, a MAC and the bookmark. The MAC covers the binding too (operation, filters, caller),
 * which is not carried: a cursor that was altered, or belongs elsewhere, does not verify (D-14).
 */
export class Cursors {
  readonly #ring: KeyRing
  /** Keyed and unused, newest key first: a copy of one costs less than a new one. */
  #kept: readonly [Bun.CryptoHasher, ...Bun.CryptoHasher[]]
  #generation: number

  constructor(ring: KeyRing) {
    this.#ring = ring
    this.#kept = hashersOf(ring)
    this.#generation = ring.generation
  }

  seal(binding: string, { first, last, memory }: Bookmark): string {
    const payload = JSON.stringify(memory === undefined ? [first, last] : [first, last, memory])
    return bytesOf(this.#hashers()[0], binding, payload).toString('base64url')
  }

  /** The bookmark, or undefined if this is not a cursor that was given out for exactly this. */
  open(binding: string, text: string): Bookmark | undefined {
    const bytes = Buffer.from(text, 'base64url')
    // One text for each cursor: stray bits and characters that decoding passes over are refused.
    if (bytes.length <= HEAD_BYTES || bytes.toString('base64url') !== text) return undefined
    const payload = bytes.toString('utf8', HEAD_BYTES)
    const isOurs = this.#hashers().some(hasher => {
      const ours = bytesOf(hasher, binding, payload)
      return ours.length === bytes.length && timingSafeEqual(ours, bytes)
    })
    if (!isOurs) return undefined
    const [first, last, memory] = JSON.parse(payload) as [Key, Key, Key?]
    return { first, last, memory }
  }

  #hashers(): readonly [Bun.CryptoHasher, ...Bun.CryptoHasher[]] {
    if (this.#generation !== this.#ring.generation) {
      this.#kept = hashersOf(this.#ring)
      this.#generation = this.#ring.generation
    }
    return this.#kept
  }
}

function hashersOf(ring: KeyRing): [Bun.CryptoHasher, ...Bun.CryptoHasher[]] {
  const [newest, ...older] = ring.deriveAll(PURPOSE).map(key => new Bun.CryptoHasher('sha256', key))
  if (newest === undefined) throw new Error('a key ring has at least one key')
  return [newest, ...older]
}

function bytesOf(hasher: Bun.CryptoHasher, binding: string, payload: string): Buffer {
  const mac = hasher.copy().update(`${VERSION}\n${binding}\n${payload}`).digest()
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(payload))
  bytes[0] = VERSION
  mac.copy(bytes, 1, 0, MAC_BYTES)
  bytes.write(payload, HEAD_BYTES)
  return bytes
}
