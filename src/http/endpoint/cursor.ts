/**
 * Cursors: where the next page of a list begins, as a text that callers keep and send back (D-14).
 *
 * The server keeps no state for a walk, so the cursor has to carry it. Callers could alter it, or send it with another
 * filter or another token, and would get pages that skip or repeat rows, or rows of someone else's list. So each cursor is
 * authenticated, together with what it was issued for:
 *
 *     page --> bookmark: first key, last key, state of the walk
 *                 |
 *     cursor = base64url( version | MAC | bookmark )       MAC over version, binding and bookmark
 *                                                          binding: operation, filters, caller
 *
 * The binding is not part of the cursor. It is computed again from the request that brings the cursor, and if anything in
 * it differs, the MAC does not match. `after` continues behind the last key, `before` ends in front of the first key. The
 * number of rows (`first`) is not bound: each page of a walk may have another size. Walks of the directory also carry the
 * point of the feed where they started.
 *
 * | Text | Result |
 * |---|---|
 * | not base64url, or in another spelling of the same bytes | not a cursor |
 * | of another version, altered, or for another binding | does not verify |
 * | sealed with an earlier master key that is still in the ring | valid |
 *
 * What must hold:
 * - Nothing of the bookmark is parsed before the MAC has been verified.
 * - MACs are compared in constant time.
 * - The newest master key seals. With the same key, equal bookmarks and bindings give equal cursors.
 * - Each cursor has exactly one spelling.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Key } from '../../contract/page.ts'
import type { KeyRing } from '../../kit/crypto/key-ring.ts'

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
