/** Proof Key for Code Exchange (RFC 7636): proves that a code is redeemed by the client that requested it. S256 only. */
import { sha256Base64url } from '../../kit/crypto/digest.ts'

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export function isWellFormedChallenge(text: string): boolean {
  return CHALLENGE.test(text)
}

/** The challenge of a verifier; a malformed verifier matches no challenge. */
export function computeChallenge(verifier: string): string {
  return VERIFIER.test(verifier) ? sha256Base64url(verifier) : 'none'
}
