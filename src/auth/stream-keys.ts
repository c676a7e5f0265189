import { hmacSha256 } from '../kit/crypto/digest.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { SecretBox } from '../kit/crypto/secret-box.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { LruCache } from '../kit/lru-cache.ts'
import type { StoredStreamKey } from '../store/commands/users.ts'
import type { SealedStreamKey, StreamKeyRow, StreamKeySlot } from '../store/queries/stream-keys.ts'

const MAX_OPENED = 10_000

/**
 * Stream keys: encrypted at rest so that broadcasters can read them again, bound to user and slot so that a copied row
 * does not open, and found at ingest by a keyed hash (D-36).
 */
export class StreamKeys {
  readonly #ring: KeyRing
  readonly #box: SecretBox
  /** Opened keys by their sealed form, because opening one is expensive. */
  readonly #opened = new LruCache<{ user_id: string; slot: StreamKeySlot; key: string }>(MAX_OPENED)

  constructor(ring: KeyRing) {
    this.#ring = ring
    this.#box = new SecretBox(ring, 'stream-key')
  }

  mint(
    user_id: string,
    slot: StreamKeySlot,
    random = randomAlphanumerics(30),
  ): { key: string; stored: StoredStreamKey } {
    const key = `live_${user_id}_${random}`
    return { key, stored: this.seal(user_id, slot, key) }
  }

  /** A key as it is stored: sealed with the newest master key, with a lookup hash under the same one. */
  seal(user_id: string, slot: StreamKeySlot, key: string): StoredStreamKey {
    const box = this.#box.seal(key, keyBinding(user_id, slot))
    return { ...box, lookup_hash: this.#lookupHash(box.key_id, key) }
  }

  /**
   * The hashes under which a key may be stored, one per master key of the ring, newest first. Which one applies depends on
   * when the row was last sealed, so a look-up uses all of them.
   */
  lookupHashes(key: string): string[] {
    return this.#ring.ids.map(id => this.#lookupHash(id, key))
  }

  /** Whether a row opens and its lookup hash matches. */
  isWhole(row: StreamKeyRow): boolean {
    const key = this.#box.open(row, keyBinding(row.user_id, row.slot))
    return key !== undefined && this.#lookupHash(row.key_id, key) === row.lookup_hash
  }

  /** The plain key, or undefined if no master key of this installation opens it. */
  open(user_id: string, stored: SealedStreamKey): string | undefined {
    const known = this.#opened.get(stored.sealed)
    if (known?.user_id === user_id && known.slot === stored.slot) return known.key
    const key = this.#box.open(stored, keyBinding(user_id, stored.slot))
    if (key !== undefined) this.#opened.set(stored.sealed, { user_id, slot: stored.slot, key })
    return key
  }

  #lookupHash(masterKey: string, key: string): string {
    const pepper = this.#ring.derive('stream-key-lookup', masterKey)
    if (pepper === undefined) throw new Error(`the master key ${masterKey} is not in the ring`)
    return hmacSha256(pepper, key).toString('hex')
  }
}

/** A name may be a number, so the forms differ. */
function keyBinding(user_id: string, slot: StreamKeySlot): string {
  return typeof slot === 'number' ? `${user_id}/${slot}` : `${user_id}/extra/${slot}`
}
