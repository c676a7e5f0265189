/**
 * The caller cache: from an access token to the client, user and scopes that it stands for.
 *
 * Most requests have a token, and reading it from the store each time would cost more than most answers. But a revoked token
 * must stop working at once. So valid tokens are cached, by hash, and the feed removes them: whatever ends or changes a token
 * publishes that in the same transaction (`store/feed.ts`). The process that revokes rejects the token as soon as the
 * revocation returns, the others after their next read of the feed.
 *
 *     token --> cached, and read within the last minute? --yes--> caller
 *                        | no
 *                        '--> read the store --valid--> cache it --> caller
 *                                   |--unknown--> remove it from the cache --> 401
 *                                   '--no answer--> the cached entry counts; without one, 503
 *
 * | Change in the feed | Removes |
 * |---|---|
 * | tokens were revoked or replaced | these tokens |
 * | a client was changed, stopped or deleted | all tokens of that client |
 * | a user was renamed or deleted, or has logged out | all tokens of that user; those that are still valid are read again |
 * | everything is loaded again | all tokens |
 *
 * What must hold:
 * - A look-up during which something was invalidated may have read the state before. Its result is used for the request that
 *   asked, but not cached.
 * - An entry is read again after a minute, in case the feed missed a change.
 * - The expiry is compared with the clock on every use: an expired token is invalid even if it is cached.
 * - Unknown tokens are not cached, so they cannot fill the memory. The number of cached tokens is bounded.
 *
 * Tokens of operators are not cached: their calls are rare.
 */
import { SITE_CLIENT_ID } from '../contract/site-client.ts'
import type { Caller } from '../domain/caller.ts'
import { sameSecret } from '../kit/crypto/digest.ts'
import { LruCache } from '../kit/lru-cache.ts'
import type { Metrics } from '../kit/telemetry/metrics.ts'
import type { Clock } from '../kit/time/clock.ts'
import type { EndedAccess, FeedEntry } from '../store/feed.ts'
import type { FeedSubscriber } from '../store/follower.ts'
import type { Session } from '../store/queries/accounts.ts'
import type { KnownToken } from '../store/queries/tokens.ts'
import type { Store } from '../store/store.ts'
import { isSiteToken, type SiteToken, type SiteTokens, VISITOR } from './site-tokens.ts'
import { hashToken, isWellFormed } from './tokens.ts'

/** A valid access token: its owner, scopes and expiry. */
export interface AccessToken {
  readonly client_id: string
  readonly user_id: string | null
  readonly login: string | null
  readonly scopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly ends: number
  readonly caller: Caller
  /** When it was read from the store, on the monotonic clock. */
  readonly readAt: number
}

const MAX_TOKENS = 100_000
const TRUSTED_MILLISECONDS = 60_000

export class Callers implements FeedSubscriber {
  readonly #store: Pick<Store, 'tokens' | 'accounts'>
  readonly #siteTokens: SiteTokens
  readonly #known = new LruCache<AccessToken>(MAX_TOKENS)
  /** Counts invalidations: a look-up during which one happens may be stale and is not cached. */
  #invalidations = 0

  constructor(store: Pick<Store, 'tokens' | 'accounts'>, siteTokens: SiteTokens) {
    this.#store = store
    this.#siteTokens = siteTokens
  }

  /** The token; undefined if it is unknown, expired or malformed. */
  async find(token: string, now: number): Promise<AccessToken | undefined> {
    const hash = hashToken(token)
    const known = this.#known.get(hash)
    if (known === undefined && !isWellFormed(token) && !isSiteToken(token)) return undefined
    const found = known !== undefined && isFresh(known) ? known : await this.#refresh(token, hash, known)
    return found !== undefined && found.ends > now ? found : undefined
  }

  /** The token if it is cached, not expired, and was read recently. What is cached was issued: its form needs no check. */
  cached(token: string, now: number): AccessToken | undefined {
    const known = this.#known.get(hashToken(token))
    return known !== undefined && known.ends > now && isFresh(known) ? known : undefined
  }

  /** Reads the store again, in case the feed missed a change; while the store is unavailable, the cached entry counts. */
  async #refresh(
    token: string,
    hash: string,
    known: AccessToken | undefined,
  ): Promise<AccessToken | undefined> {
    try {
      const found = await this.#lookUp(token, hash)
      if (found === undefined) this.#known.delete(hash)
      return found
    } catch (error) {
      if (known === undefined) throw error
      return known
    }
  }

  measure(metrics: Metrics): void {
    metrics.gauge('strand_known_callers', 'Access tokens cached in memory.', this.#known.size)
  }

  async load(): Promise<() => void> {
    return () => {
      this.#known.clear()
      this.#invalidations += 1
    }
  }

  apply({ change }: FeedEntry): void {
    if (change.kind !== 'access') return
    this.#invalidations += 1
    const { access } = change
    if ('tokens' in access) for (const hash of access.tokens) this.#known.delete(hash)
    else for (const [hash, token] of this.#known) if (concerns(access, token)) this.#known.delete(hash)
  }

  async #lookUp(text: string, hash: string): Promise<AccessToken | undefined> {
    const before = this.#invalidations
    const token = isSiteToken(text) ? await this.#readSiteToken(text) : await this.#readStored(hash)
    if (token !== undefined && before === this.#invalidations) this.#known.set(hash, token)
    return token
  }

  async #readStored(hash: string): Promise<AccessToken | undefined> {
    const row = await this.#store.tokens.find(hash)
    return row === undefined || row.kind === 'refresh' ? undefined : readToken(row)
  }

  /** Reads a token of the site. It is valid as long as its session; the token of a visitor has no session. */
  async #readSiteToken(text: string): Promise<AccessToken | undefined> {
    const token = this.#siteTokens.open(text)
    if (token === undefined) return undefined
    if (token.session_id === null) return visitorToken(token)
    const session = await this.#store.accounts.sessionWithId(token.session_id)
    return session && sessionToken(token, session)
  }
}

function isFresh({ readAt }: AccessToken): boolean {
  return performance.now() - readAt < TRUSTED_MILLISECONDS
}

function concerns(access: Exclude<EndedAccess, { tokens: unknown }>, token: AccessToken): boolean {
  return 'client_id' in access ? access.client_id === token.client_id : access.user_id === token.user_id
}

/** Most tokens of a client have the same scopes: sharing them saves memory, and they are read from the cache of the processor. */
const scopesByText = new LruCache<readonly string[]>(1000)

function readScopes(text: string): readonly string[] {
  const known = scopesByText.get(text)
  if (known !== undefined) return known
  const scopes: readonly string[] = JSON.parse(text)
  scopesByText.set(text, scopes)
  return scopes
}

function readToken(row: KnownToken): AccessToken {
  const { client_id, user_id, login } = row
  const scopes = readScopes(row.scopes)
  return {
    client_id,
    user_id,
    login,
    scopes,
    ends: Date.parse(row.expires_at),
    caller: toCaller(row, scopes),
    readAt: performance.now(),
  }
}

const visitorToken = ({ ends }: SiteToken): AccessToken => ({
  client_id: SITE_CLIENT_ID,
  user_id: null,
  login: null,
  scopes: [],
  ends,
  caller: VISITOR,
  readAt: performance.now(),
})

function sessionToken({ scopes, ends }: SiteToken, session: Session): AccessToken {
  const { user_id, login } = session
  const owner = { client_id: SITE_CLIENT_ID, user_id, login, scopes }
  return {
    ...owner,
    ends: Math.min(ends, Date.parse(session.expires_at)),
    caller: { kind: 'user', organization_id: null, ...owner },
    readAt: performance.now(),
  }
}

function toCaller(
  { kind, client_id, organization_id, user_id, login }: KnownToken,
  scopes: readonly string[],
): Caller {
  if (kind === 'app') return { kind, client_id, organization_id }
  if (user_id === null || login === null) throw new Error('a user token has a user')
  return { kind: 'user', client_id, organization_id, user_id, login, scopes }
}

/** The scheme of an `Authorization` header as nearly every client spells it. */
const USUAL_SCHEME = 'Bearer '

/** Forms of an `Authorization` header with a token; the scheme is case-insensitive (D-2). */
const BEARER = /^bearer +(\S+)$/i
export const OAUTH_OR_BEARER = /^(?:oauth|bearer) +(\S+)$/i

/** The token of an `Authorization` header: undefined without a header, `invalid` if it has another form. */
export function tokenIn(header: string | null, form: RegExp): string | 'invalid' | undefined {
  if (header === null || header === '') return undefined
  return form.exec(header)?.[1] ?? 'invalid'
}

/** The caller that the credentials of a request identify; `invalid` if they identify none. */
export type Resolution = Caller | 'invalid'

export const ANONYMOUS: Caller = { kind: 'anonymous' }

/** The caller behind `Authorization: Bearer <token>` (D-2). */
export async function resolveCaller(
  callers: Callers,
  header: string | null,
  clock: Clock,
): Promise<Resolution> {
  const token = tokenIn(header, BEARER)
  if (token === undefined) return ANONYMOUS
  if (token === 'invalid') return 'invalid'
  return (await callers.find(token, clock.now()))?.caller ?? 'invalid'
}

/** The caller without asking the store; undefined if the store has to be asked. */
export function cachedCaller(callers: Callers, header: string | null, clock: Clock): Resolution | undefined {
  if (header === null) return ANONYMOUS
  if (!header.startsWith(USUAL_SCHEME)) return undefined
  return callers.cached(header.slice(USUAL_SCHEME.length), clock.now())?.caller
}

/**
 * The operator behind the header: the holder of the initial token, or a named one. Named operators are looked up each time,
 * since their calls are rare: every process rejects a revoked token at once.
 */
export async function resolveOperator(
  operatorToken: string,
  store: Pick<Store, 'operators'>,
  header: string | null,
): Promise<Resolution> {
  const token = tokenIn(header, BEARER)
  if (token === undefined) return ANONYMOUS
  if (sameSecret(token, operatorToken)) return { kind: 'operator', name: null }
  if (!isWellFormed(token)) return 'invalid'
  const name = await store.operators.withToken(hashToken(token))
  return name === undefined ? 'invalid' : { kind: 'operator', name }
}
