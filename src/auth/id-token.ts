import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'

/** An ID token is read once, when somebody logs in; it opens nothing. */
const ID_TOKEN_SECONDS = 3600

export interface IdTokenSubject {
  readonly issuer: string
  readonly client_id: string
  readonly user: { readonly id: string; readonly display_name: string }
  /** The access token that is answered along with it. */
  readonly access_token: string
  readonly nonce?: string | null | undefined
  /** When the person logged in, if that is known. */
  readonly authenticated_at?: string | undefined
}

/** The name under which this server vouches for people. */
export const issuerOf = (publicUrl: string): string => `${publicUrl}/oauth2`

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
    at_hash: halfHashOf(access_token),
    preferred_username: user.display_name,
  }
}

/** The left half of the SHA-256 of a token: binds the ID token to it (OpenID Connect Core 3.1.3.6). */
function halfHashOf(token: string): string {
  return createHash('sha256').update(token).digest().subarray(0, 16).toString('base64url')
}
