/**
 * Secrets for the APIs of media servers that ask for one. Strand keeps only the hash of a media server's secret, so the
 * secret of its API is derived from that hash: the configuration contains it, and a rotation replaces both.
 */
import { hmacSha256, sha256Hex } from '../kit/crypto/digest.ts'

/** A token is made for a poll; this leaves room for clocks that differ. */
const TOKEN_SECONDS = 600

/** Derived from the hash of the media server's secret. */
export const deriveApiSecret = (secretHash: string): string => sha256Hex(`api/${secretHash}`)

/** A JSON Web Token (HS256) for the API. */
export function apiToken(apiSecret: string, now: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { username: 'strand', exp: Math.floor(now / 1000) + TOKEN_SECONDS }
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${hmacSha256(Buffer.from(apiSecret), signed).toString('base64url')}`
}
