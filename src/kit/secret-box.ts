import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** Text encrypted with AES-256-GCM, and the id of the key. */
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
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#ring.deriveNewest(this.#purpose), nonce)
    cipher.setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return {
      key_id: this.#ring.newest,
      sealed: Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url'),
    }
  }

  /** The text, or undefined if the key is missing, the bytes were altered or the context differs. */
  open(box: Sealed, context: string): string | undefined {
    const key = this.#ring.derive(this.#purpose, box.key_id)
    const bytes = Buffer.from(box.sealed, 'base64url')
    if (key === undefined || bytes.length < 28) return undefined
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(bytes.length - 16))
    try {
      return (
        decipher.update(bytes.subarray(12, bytes.length - 16), undefined, 'utf8') + decipher.final('utf8')
      )
    } catch {
      return undefined
    }
  }
}
