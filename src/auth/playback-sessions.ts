import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type PlaybackSession, SESSION_ID_LENGTH, SESSION_MILLISECONDS } from '../domain/playback.ts'
import { hmacSha256 } from '../kit/digest.ts'
import type { KeyRing } from '../kit/key-ring.ts'

const PURPOSE = 'playback-session'
const MAC_BYTES = 16
const ID_BYTES = (SESSION_ID_LENGTH * 3) / 4

/**
 * Playback sessions as players carry them: base64url of a MAC and its payload. The server keeps none, so that strangers can
 * make as many as they want, and every node knows the sessions of the others.
 */
export class PlaybackSessions {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  mint(
    { user_id, watches }: Omit<PlaybackSession, 'id'>,
    now: number,
  ): { session: string; expires_at: number } {
    const expires_at = now + SESSION_MILLISECONDS
    const id = randomBytes(ID_BYTES).toString('base64url')
    const payload = JSON.stringify([id, user_id, watches, expires_at])
    const mac = macOf(this.#ring.deriveNewest(PURPOSE), payload)
    return { session: Buffer.concat([mac, Buffer.from(payload)]).toString('base64url'), expires_at }
  }

  /** The session, or undefined if it was altered, comes from elsewhere, or has expired. */
  open(text: string, now: number): PlaybackSession | undefined {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== text) return undefined
    const payload = bytes.toString('utf8', MAC_BYTES)
    const mac = bytes.subarray(0, MAC_BYTES)
    if (!this.#ring.deriveAll(PURPOSE).some(key => timingSafeEqual(macOf(key, payload), mac)))
      return undefined
    const [id, user_id, watches, expires_at] = JSON.parse(payload) as [
      string,
      string,
      PlaybackSession['watches'],
      number,
    ]
    return now < expires_at ? { id, user_id, watches } : undefined
  }
}

const macOf = (key: Uint8Array, payload: string): Buffer => hmacSha256(key, payload).subarray(0, MAC_BYTES)
