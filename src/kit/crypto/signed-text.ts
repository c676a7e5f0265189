import { timingSafeEqual } from 'node:crypto'
import { hmacSha256, sameSecret } from './digest.ts'
import type { KeyRing } from './key-ring.ts'

const MAC_BYTES = 16

/**
 * Text that others carry and cannot alter: base64url of a MAC and the text. Every node of an installation knows the texts of
 * the others, and none has to be stored.
 */
export class SignedText {
  readonly #ring: KeyRing
  readonly #purpose: string

  constructor(ring: KeyRing, purpose: string) {
    this.#ring = ring
    this.#purpose = purpose
  }

  sign(text: string): string {
    const mac = computeMac(this.#ring.deriveNewest(this.#purpose), text)
    return Buffer.concat([mac, Buffer.from(text)]).toString('base64url')
  }

  /** The text, or undefined if it was altered or comes from elsewhere. */
  open(signed: string): string | undefined {
    const bytes = Buffer.from(signed, 'base64url')
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== signed) return undefined
    const text = bytes.toString('utf8', MAC_BYTES)
    const mac = bytes.subarray(0, MAC_BYTES)
    const isOurs = this.#ring
      .deriveAll(this.#purpose)
      .some(key => timingSafeEqual(computeMac(key, text), mac))
    return isOurs ? text : undefined
  }
}

const computeMac = (key: Uint8Array, text: string): Buffer => hmacSha256(key, text).subarray(0, MAC_BYTES)

/** The same for texts that are known where they are checked: the MAC alone. */
export class Proofs {
  readonly #ring: KeyRing
  readonly #purpose: string

  constructor(ring: KeyRing, purpose: string) {
    this.#ring = ring
    this.#purpose = purpose
  }

  of(text: string): string {
    return hmacSha256(this.#ring.deriveNewest(this.#purpose), text).toString('base64url')
  }

  verifies(text: string, proof: string): boolean {
    const proofs = this.#ring.deriveAll(this.#purpose).map(key => hmacSha256(key, text).toString('base64url'))
    return proofs.some(each => sameSecret(proof, each))
  }
}
