/**
 * Proves that the user was shown the device that they allow or deny: created with the consent page, verified when its form
 * is submitted. A code posted without proof was not looked up before, and looking up is where guesses are counted.
 */
import { hmacSha256, sameSecret } from '../kit/digest.ts'

/** The subject of a consent: one device, one code, one session. */
export interface ShownDevice {
  readonly user_code: string
  /** The hash of the device code, because another device may get the same user code later. */
  readonly hash: string
  readonly session_id: string
}

/** `keys` are newest first: the newest signs, and all of them verify. */
export function consentProof(keys: readonly Uint8Array[], shown: ShownDevice): string {
  const [newest] = keys
  if (newest === undefined) throw new Error('no consent key')
  return proofWith(newest, shown)
}

export function isConsentProof(keys: readonly Uint8Array[], shown: ShownDevice, given: string): boolean {
  return keys.some(key => sameSecret(given, proofWith(key, shown)))
}

function proofWith(key: Uint8Array, { user_code, hash, session_id }: ShownDevice): string {
  return hmacSha256(key, JSON.stringify([user_code, hash, session_id])).toString('base64url')
}
