import type { Scope } from '../contract/scope.ts'
import { SITE_CLIENT_ID } from '../contract/site-client.ts'
import type { Caller } from '../domain/caller.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import { SignedText } from '../kit/crypto/signed-text.ts'

/**
 * Access tokens of the site, for the scripts of its pages. A page carries a *grant*: the session that it was rendered for
 * and the scopes that its scripts need, signed. A script exchanges the grant for a token, and the browser proves with its
 * cookie that it still has the session. Another site can do neither: it cannot read a page, so it has no grant.
 *
 * Nothing is stored. A token names its session and is valid only while that session is; the caller cache holds it as it
 * holds other tokens, and the feed drops it from there when the session ends. The token of a visitor who is not logged in
 * names no session: it is the same for everyone who asks within a minute.
 */
const LIFETIME_SECONDS = 600
const MINUTE_MILLISECONDS = 60_000
const PREFIX = 'ssit_'

/** What a page may exchange. */
export interface SiteGrant {
  /** Null: a visitor who is not logged in. */
  readonly session_id: string | null
  readonly scopes: readonly Scope[]
}

export interface SiteToken extends SiteGrant {
  /** Milliseconds since 1970. */
  readonly ends: number
}

/** Visitors may read what every application may read, and pay for it from the bucket of their address. */
export const VISITOR: Caller = { kind: 'app', client_id: SITE_CLIENT_ID, organization_id: null }

export const isSiteToken = (text: string): boolean => text.startsWith(PREFIX)

export class SiteTokens {
  readonly #grants: SignedText
  readonly #tokens: SignedText

  constructor(ring: KeyRing) {
    this.#grants = new SignedText(ring, 'site-grant')
    this.#tokens = new SignedText(ring, 'site-token')
  }

  grant({ session_id, scopes }: SiteGrant): string {
    return this.#grants.sign(JSON.stringify([session_id, scopes]))
  }

  /** The grant, or undefined if it was altered or comes from elsewhere. */
  openGrant(text: string): SiteGrant | undefined {
    const payload = this.#grants.open(text)
    if (payload === undefined) return undefined
    const [session_id, scopes] = JSON.parse(payload) as [string | null, Scope[]]
    return { session_id, scopes }
  }

  mint({ session_id, scopes }: SiteGrant, now: number): { access_token: string; expires_in: number } {
    const start = session_id === null ? Math.floor(now / MINUTE_MILLISECONDS) * MINUTE_MILLISECONDS : now
    const ends = start + LIFETIME_SECONDS * 1000
    const access_token = PREFIX + this.#tokens.sign(JSON.stringify([session_id, scopes, ends]))
    return { access_token, expires_in: Math.floor((ends - now) / 1000) }
  }

  /** The token, whether or not it has expired; undefined if it was altered or comes from elsewhere. */
  open(text: string): SiteToken | undefined {
    const payload = isSiteToken(text) ? this.#tokens.open(text.slice(PREFIX.length)) : undefined
    if (payload === undefined) return undefined
    const [session_id, scopes, ends] = JSON.parse(payload) as [string | null, Scope[], number]
    return { session_id, scopes, ends }
  }
}
