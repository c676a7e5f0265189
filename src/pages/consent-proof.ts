/**
 * Proof that the person who decides about a device was shown that device: made with the consent page, checked when its form
 * comes back. Whoever posts a code without it has not looked it up, where guesses are counted.
 */
import { hmacSha256, sameSecret } from '../kit/digest.ts'

/** What a consent is about: one device, one code, one person in one browser. */
export interface ShownDevice {
  readonly user_code: string
  /** The hash of the device's own code: should another device get the same user code later, it is not meant. */
  readonly hash: string
  readonly session_id: string
}

/** `keys` are newest first: the newest makes proofs, and all of them are believed. */
export function consentProof(keys: readonly Uint8Array[], shown: ShownDevice): string {
  const [newest] = keys
  if (newest === undefined) throw new Error('there is at least one key')
  return proofWith(newest, shown)
}

export function isConsentProof(keys: readonly Uint8Array[], shown: ShownDevice, given: string): boolean {
  return keys.some(key => sameSecret(given, proofWith(key, shown)))
}

function proofWith(key: Uint8Array, { user_code, hash, session_id }: ShownDevice): string {
  return hmacSha256(key, JSON.stringify([user_code, hash, session_id])).toString('base64url')
}
