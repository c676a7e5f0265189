import { timingSafeEqual } from 'node:crypto'
import type { Key } from '../contract/page.ts'
import { hmacSha256 } from '../kit/digest.ts'
import type { KeyRing } from '../kit/key-ring.ts'

/** Where a page began and ended, and what its walk remembers. */
export interface Bookmark {
  readonly first: Key
  readonly last: Key
  readonly memory?: Key | undefined
}

const VERSION = 1
const MAC_BYTES = 16
const PURPOSE = 'cursor'

/**
 * Cursors: base64url of a version, a MAC and the bookmark. The MAC covers the binding too (operation, filters, caller),
 * which is not carried: a cursor that was altered, or belongs elsewhere, does not verify (D-14).
 */
export class Cursors {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  seal(binding: string, { first, last, memory }: Bookmark): string {
    const payload = JSON.stringify(memory === undefined ? [first, last] : [first, last, memory])
    const mac = this.#mac(this.#ring.newest, binding, payload)
    return Buffer.concat([Uint8Array.of(VERSION), mac, Buffer.from(payload)]).toString('base64url')
  }

  /** The bookmark, or undefined if this is not a cursor that was given out for exactly this. */
  open(binding: string, text: string): Bookmark | undefined {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= 1 + MAC_BYTES || bytes[0] !== VERSION) return undefined
    // One text for each cursor: stray bits and characters that decoding passes over are refused.
    if (bytes.toString('base64url') !== text) return undefined
    const payload = bytes.subarray(1 + MAC_BYTES).toString()
    const mac = bytes.subarray(1, 1 + MAC_BYTES)
    if (!this.#ring.ids.some(id => timingSafeEqual(mac, this.#mac(id, binding, payload)))) return undefined
    const [first, last, memory] = JSON.parse(payload) as [Key, Key, Key?]
    return { first, last, memory }
  }

  #mac(key: string, binding: string, payload: string): Buffer {
    const bytes = this.#ring.derive(PURPOSE, key)
    if (bytes === undefined) throw new Error('the ring lists this key')
    return hmacSha256(bytes, `${VERSION}\n${binding}\n${payload}`).subarray(0, MAC_BYTES)
  }
}
