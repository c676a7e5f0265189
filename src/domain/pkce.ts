/** Proof Key for Code Exchange (RFC 7636): who redeems a code shows that they asked for it. S256 only. */
import { sha256Base64url } from '../kit/digest.ts'

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export function isWellFormedChallenge(text: string): boolean {
  return CHALLENGE.test(text)
}

/** The challenge that a verifier answers to; a malformed one answers to none. */
export function challengeOf(verifier: string): string {
  return VERIFIER.test(verifier) ? sha256Base64url(verifier) : 'none'
}
