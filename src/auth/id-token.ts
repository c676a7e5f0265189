import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'

/** An ID token is read once, at login, and grants no access. */
const ID_TOKEN_SECONDS = 3600

export interface IdTokenSubject {
  readonly issuer: string
  readonly client_id: string
  readonly user: { readonly id: string; readonly display_name: string }
  /** The access token issued with it. */
  readonly access_token: string
  readonly nonce?: string | null | undefined
  /** When the user logged in, if known. */
  readonly authenticated_at?: string | undefined
}

/** The issuer identifier (`iss`) of this server. */
export const issuerUrl = (publicUrl: string): string => `${publicUrl}/oauth2`

export function idTokenClaims(subject: IdTokenSubject, now: number): JWTPayload {
  const { issuer, client_id, user, access_token, nonce, authenticated_at } = subject
  const iat = Math.floor(now / 1000)
  return {
    iss: issuer,
    sub: user.id,
    aud: client_id,
    azp: client_id,
    exp: iat + ID_TOKEN_SECONDS,
    iat,
    ...(authenticated_at !== undefined && { auth_time: Math.floor(Date.parse(authenticated_at) / 1000) }),
    ...(typeof nonce === 'string' && { nonce }),
    at_hash: accessTokenHash(access_token),
    preferred_username: user.display_name,
  }
}

/** The `at_hash` of an access token: the left half of its SHA-256 (OpenID Connect Core 3.1.3.6). */
function accessTokenHash(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url')
}
