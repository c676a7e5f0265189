import type { Caller } from '../domain/caller.ts'
import type { Access, Change } from '../store/feed.ts'
import type { Audience } from '../store/follower.ts'
import type { KnownToken } from '../store/queries/tokens.ts'
import type { Store } from '../store/store.ts'
import { hashOf, isWellMade } from './tokens.ts'

/** A good access token: whose it is, what it opens and until when. */
export interface AccessToken {
  readonly client_id: string
  readonly user_id: string | null
  readonly login: string | null
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly ends: number
  readonly caller: Caller
}

const MANY = 100_000

/**
 * Who is behind a token, from memory. An entry is right until the feed says otherwise: whatever ends or changes tokens
 * publishes that in its own transaction, so a revoked token is refused here as soon as the revocation was answered, and in
 * other processes with their next reading of the feed. Tokens that are not known are asked for each time.
 */
export class Callers implements Audience {
  readonly #store: Store
  readonly #known = new Map<string, AccessToken>()
  /** Counts what was forgotten: a look-up during which something was is not remembered. */
  #forgettings = 0

  constructor(store: Store) {
    this.#store = store
  }

  async find(token: string, now: number): Promise<AccessToken | undefined> {
    const hash = hashOf(token)
    const found = this.#known.get(hash) ?? (await this.#lookUp(hash))
    return found !== undefined && found.ends > now ? found : undefined
  }

  async reload(): Promise<void> {
    this.#known.clear()
    this.#forgettings += 1
  }

  apply(change: Change): void {
    if (change.kind !== 'access') return
    this.#forgettings += 1
    const { access } = change
    if ('tokens' in access) for (const hash of access.tokens) this.#known.delete(hash)
    else for (const [hash, token] of this.#known) if (concerns(access, token)) this.#known.delete(hash)
  }

  async #lookUp(hash: string): Promise<AccessToken | undefined> {
    const before = this.#forgettings
    const row = await this.#store.tokens.find(hash)
    if (row === undefined || row.kind === 'refresh') return undefined
    const token = readToken(row)
    if (before === this.#forgettings) {
      if (this.#known.size >= MANY) this.#known.clear()
      this.#known.set(hash, token)
    }
    return token
  }
}

function concerns(access: Exclude<Access, { tokens: unknown }>, token: AccessToken): boolean {
  return 'client_id' in access ? access.client_id === token.client_id : access.user_id === token.user_id
}

function readToken({
  client_id,
  organization_id,
  user_id,
  login,
  scopes,
  expires_at,
}: KnownToken): AccessToken {
  const held: readonly string[] = JSON.parse(scopes)
  const caller: Caller =
    user_id === null || login === null
      ? { kind: 'app', client_id, organization_id }
      : { kind: 'user', client_id, organization_id, user_id, login, scopes: held }
  return { client_id, user_id, login, scopes: held, ends: Date.parse(expires_at), caller }
}

/** The token of an `Authorization` header: undefined if there is none, `invalid` if it cannot be one. */
export function tokenIn(header: string | null, schemes: readonly string[]): string | 'invalid' | undefined {
  if (header === null || header === '') return undefined
  const [, scheme, token] = /^([A-Za-z]+) +([^\s]+)$/.exec(header) ?? []
  if (scheme === undefined || token === undefined) return 'invalid'
  return schemes.includes(scheme.toLowerCase()) && isWellMade(token) ? token : 'invalid'
}
