import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts text with a key of 256 bits: nonce, ciphertext and tag. `context` is authenticated with the text. */
export function encrypt(key: Uint8Array, text: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce)
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** The text, or undefined if the key or the context is another one, or the bytes were altered. */
export function decrypt(key: Uint8Array, bytes: Buffer, context: string): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
    return decipher.update(body, undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

/** Encrypted text, and the name of the key that decrypts it. */
export interface Sealed {
  readonly key_id: string
  readonly sealed: string
}

/**
 * Encrypts secrets that must be readable again. `context` is authenticated with the text, so that a sealed value copied to
 * another row cannot be decrypted there.
 */
export class SecretBox {
  readonly #ring: KeyRing
  readonly #purpose: string

  constructor(ring: KeyRing, purpose: string) {
    this.#ring = ring
    this.#purpose = purpose
  }

  seal(text: string, context: string): Sealed {
    const sealed = encrypt(this.#ring.deriveNewest(this.#purpose), text, context)
    return { key_id: this.#ring.newest, sealed: sealed.toString('base64url') }
  }

  /** The text, or undefined if the key is gone, the bytes were altered or the context is another one. */
  open({ key_id, sealed }: Sealed, context: string): string | undefined {
    const key = this.#ring.derive(this.#purpose, key_id)
    return key && decrypt(key, Buffer.from(sealed, 'base64url'), context)
  }
}
