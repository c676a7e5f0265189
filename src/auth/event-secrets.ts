import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { type Sealed, SecretBox } from '../kit/crypto/secret-box.ts'

/** The secrets of webhooks: encrypted at rest, because messages are signed with them, and bound to their subscription. */
export class EventSecrets {
  readonly #box: SecretBox

  constructor(ring: KeyRing) {
    this.#box = new SecretBox(ring, 'event-secret')
  }

  seal(subscription_id: string, secret: string): Sealed {
    return this.#box.seal(secret, subscription_id)
  }

  /** The secret, or undefined if no master key of this installation opens it. */
  open(subscription_id: string, sealed: Sealed): string | undefined {
    return this.#box.open(sealed, subscription_id)
  }
}
