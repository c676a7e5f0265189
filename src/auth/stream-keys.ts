import { hmacSha256 } from '../kit/digest.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { SecretBox } from '../kit/secret-box.ts'
import type { StoredStreamKey } from '../store/commands/users.ts'

const MANY = 10_000

/**
 * Stream keys: sealed at rest so that a broadcaster can read theirs again, bound to user and version so that a row copied
 * elsewhere does not open, and found at ingest by a keyed hash (D-36).
 */
export class StreamKeys {
  readonly #ring: KeyRing
  readonly #box: SecretBox
  /** Keys that were opened lately, by their sealed form: opening costs more than everything else about them. */
  readonly #opened = new Map<string, { user_id: string; version: number; key: string }>()

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
    const known = this.#opened.get(stored.sealed)
    if (known?.user_id === user_id && known.version === stored.version) return known.key
    const key = this.#box.open(stored, context(user_id, stored.version))
    if (key !== undefined) {
      if (this.#opened.size >= MANY) this.#opened.clear()
      this.#opened.set(stored.sealed, { user_id, version: stored.version, key })
    }
    return key
  }
}

function context(user_id: string, version: number): string {
  return `${user_id}/${version}`
}
