import { hmacSha256 } from '../kit/digest.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { SecretBox } from '../kit/secret-box.ts'
import type { StoredStreamKey } from '../store/commands/users.ts'

/**
 * Stream keys: sealed at rest so that a broadcaster can read theirs again, bound to user and version so that a row copied
 * elsewhere does not open, and found at ingest by a keyed hash (D-36).
 */
export class StreamKeys {
  readonly #ring: KeyRing
  readonly #box: SecretBox

  constructor(ring: KeyRing) {
    this.#ring = ring
    this.#box = new SecretBox(ring, 'stream-key')
  }

  mint(
    user_id: string,
    version: number,
    random = randomAlphanumerics(30),
  ): { key: string; stored: StoredStreamKey } {
    const key = `live_${user_id}_${random}`
    const lookup_hash = hmacSha256(this.#ring.deriveNewest('stream-key-lookup'), key).toString('hex')
    return { key, stored: { ...this.#box.seal(key, context(user_id, version)), lookup_hash } }
  }

  /** The key in plain, or undefined if this installation's master keys do not open it. */
  open(user_id: string, stored: { version: number; key_id: string; sealed: string }): string | undefined {
    return this.#box.open(stored, context(user_id, stored.version))
  }
}

function context(user_id: string, version: number): string {
  return `${user_id}/${version}`
}
