import { timingSafeEqual } from 'node:crypto'
import type { Key } from '../contract/page.ts'
import type { KeyRing } from '../kit/key-ring.ts'

/** The first and last key of a page, and the state that its walk carries along. */
export interface Bookmark {
  readonly first: Key
  readonly last: Key
  readonly cursorState?: Key | undefined
}

const VERSION = 1
const MAC_BYTES = 16
const HEAD_BYTES = 1 + MAC_BYTES
const PURPOSE = 'cursor'

/**
 * Cursors: base64url of a version, a MAC and the bookmark. The MAC also covers the binding (operation, filters, caller),
 * which is not part of the cursor: one that was altered, or issued for another request, does not verify (D-14).
 */
export class Cursors {
  readonly #ring: KeyRing
  /** Keyed hashers without input, newest key first: copying one is cheaper than creating one. */
  #keyed: readonly [Bun.CryptoHasher, ...Bun.CryptoHasher[]]
  #generation: number

  constructor(ring: KeyRing) {
    this.#ring = ring
    this.#keyed = createHashers(ring)
    this.#generation = ring.generation
  }

  seal(binding: string, { first, last, cursorState }: Bookmark): string {
    const payload = JSON.stringify(cursorState === undefined ? [first, last] : [first, last, cursorState])
    return computeBytes(this.#hashers()[0], binding, payload).toString('base64url')
  }

  /** The bookmark, or undefined if the cursor was not issued for exactly this binding. */
  open(binding: string, text: string): Bookmark | undefined {
    const bytes = decode(text)
    if (bytes === undefined) return undefined
    const payload = bytes.toString('utf8', HEAD_BYTES)
    const isGenuine = this.#hashers().some(hasher => {
      const expected = computeBytes(hasher, binding, payload)
      return expected.length === bytes.length && timingSafeEqual(expected, bytes)
    })
    if (!isGenuine) return undefined
    const [first, last, cursorState] = JSON.parse(payload) as [Key, Key, Key?]
    return { first, last, cursorState }
  }

  #hashers(): readonly [Bun.CryptoHasher, ...Bun.CryptoHasher[]] {
    if (this.#generation !== this.#ring.generation) {
      this.#keyed = createHashers(this.#ring)
      this.#generation = this.#ring.generation
    }
    return this.#keyed
  }
}

/** Whether a text has the form of a cursor. Only `open` finds out whether it was issued, and for what. */
export function isWellFormedCursor(text: string): boolean {
  return decode(text)?.[0] === VERSION
}

function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Each cursor has exactly one spelling: reject trailing bits and characters that the decoder ignores.
  return bytes.length <= HEAD_BYTES || bytes.toString('base64url') !== text ? undefined : bytes
}

function createHashers(ring: KeyRing): [Bun.CryptoHasher, ...Bun.CryptoHasher[]] {
  const [newest, ...older] = ring.deriveAll(PURPOSE).map(key => new Bun.CryptoHasher('sha256', key))
  if (newest === undefined) throw new Error('a key ring has at least one key')
  return [newest, ...older]
}

function computeBytes(hasher: Bun.CryptoHasher, binding: string, payload: string): Buffer {
  const mac = hasher.copy().update(`${VERSION}\n${binding}\n${payload}`).digest()
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(payload))
  bytes[0] = VERSION
  mac.copy(bytes, 1, 0, MAC_BYTES)
  bytes.write(payload, HEAD_BYTES)
  return bytes
}
