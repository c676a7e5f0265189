import { hmacSha256 } from '../kit/digest.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { Recent } from '../kit/recent.ts'
import { SecretBox } from '../kit/secret-box.ts'
import type { StoredStreamKey } from '../store/commands/users.ts'
import type { StreamKeyRow } from '../store/queries/streams.ts'

const MANY = 10_000

/**
 * Stream keys: sealed at rest so that a broadcaster can read theirs again, bound to user and version so that a row copied
 * elsewhere does not open, and found at ingest by a keyed hash (D-36).
 */
export class StreamKeys {
  readonly #ring: KeyRing
  readonly #box: SecretBox
  /** Opened keys, by their sealed form: opening costs more than everything else about them. */
  readonly #opened = new Recent<{ user_id: string; version: number; key: string }>(MANY)

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
    return { key, stored: this.seal(user_id, version, key) }
  }

  /** A key as it is stored: sealed with the newest master key, and to be found by a hash under the same one. */
  seal(user_id: string, version: number, key: string): StoredStreamKey {
    const box = this.#box.seal(key, context(user_id, version))
    return { ...box, lookup_hash: this.#lookupHash(box.key_id, key) }
  }

  /**
   * What a key that somebody presents may be stored under: its hash under each master key of the ring, newest first. Which
   * one it is depends on when the row was last sealed, so a look-up asks for all of them.
   */
  lookupHashes(key: string): string[] {
    return this.#ring.ids.map(id => this.#lookupHash(id, key))
  }

  /** Whether a row opens and would be found by what is in it. */
  isWhole(row: StreamKeyRow): boolean {
    const key = this.#box.open(row, context(row.user_id, row.version))
    return key !== undefined && this.#lookupHash(row.key_id, key) === row.lookup_hash
  }

  /** The key in plain, or undefined if this installation's master keys do not open it. */
  open(user_id: string, stored: { version: number; key_id: string; sealed: string }): string | undefined {
    const known = this.#opened.get(stored.sealed)
    if (known?.user_id === user_id && known.version === stored.version) return known.key
    const key = this.#box.open(stored, context(user_id, stored.version))
    if (key !== undefined) this.#opened.set(stored.sealed, { user_id, version: stored.version, key })
    return key
  }

  #lookupHash(masterKey: string, key: string): string {
    const pepper = this.#ring.derive('stream-key-lookup', masterKey)
    if (pepper === undefined) throw new Error(`the master key ${masterKey} is not in the ring`)
    return hmacSha256(pepper, key).toString('hex')
  }
}

function context(user_id: string, version: number): string {
  return `${user_id}/${version}`
}
