import { randomBytes } from 'node:crypto'
import { type PlaybackSession, SESSION_ID_LENGTH, SESSION_MILLISECONDS } from '../domain/playback.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { SignedText } from '../kit/crypto/signed-text.ts'

const ID_BYTES = (SESSION_ID_LENGTH * 3) / 4

/**
 * Playback sessions as players carry them. The server keeps none, so that strangers can make as many as they want, and every
 * node knows the sessions of the others.
 */
export class PlaybackSessions {
  readonly #signed: SignedText

  constructor(ring: KeyRing) {
    this.#signed = new SignedText(ring, 'playback-session')
  }

  mint(
    { user_id, watches, viewer }: Pick<PlaybackSession, 'user_id' | 'watches' | 'viewer'>,
    now: number,
  ): { session: string; expires_at: number } {
    const expires_at = now + SESSION_MILLISECONDS
    const id = randomBytes(ID_BYTES).toString('base64url')
    const payload = [id, user_id, watches, expires_at, ...(viewer === undefined ? [] : [viewer])]
    return { session: this.#signed.sign(JSON.stringify(payload)), expires_at }
  }

  /** The session, or undefined if it was altered, comes from elsewhere, or has expired. */
  open(text: string, now: number): PlaybackSession | undefined {
    const payload = this.#signed.open(text)
    if (payload === undefined) return undefined
    const [id, user_id, watches, expires_at, viewer] = JSON.parse(payload) as [
      string,
      string,
      PlaybackSession['watches'],
      number,
      string | undefined,
    ]
    if (now >= expires_at) return undefined
    return { id, user_id, watches, began: expires_at - SESSION_MILLISECONDS, viewer }
  }
}
